/* ASSERTION: %g takes no integer. */
BEGIN
{
	printf("%g", 1);
	exit(0);
}
