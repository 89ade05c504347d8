/* ASSERTION: A flag alone is no conversion. */
BEGIN
{
	printf("%0", 1);
	exit(0);
}
