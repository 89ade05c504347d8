/* ASSERTION: %e takes no integer. */
BEGIN
{
	printf("%e", 1);
	exit(0);
}
