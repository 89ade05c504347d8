/* ASSERTION: %I takes no integer. */
BEGIN
{
	printf("%I", 1);
	exit(0);
}
