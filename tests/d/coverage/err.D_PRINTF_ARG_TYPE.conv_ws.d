/* ASSERTION: %ws takes no integer. */
BEGIN
{
	printf("%ws", 1);
	exit(0);
}
