/* ASSERTION: %E takes no integer. */
BEGIN
{
	printf("%E", 1);
	exit(0);
}
