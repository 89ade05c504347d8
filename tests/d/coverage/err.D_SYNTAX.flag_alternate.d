/* ASSERTION: A flag alone is no conversion. */
BEGIN
{
	printf("%#", 1);
	exit(0);
}
