/* ASSERTION: %lu takes no string. */
BEGIN
{
	printf("%lu", "text");
	exit(0);
}
