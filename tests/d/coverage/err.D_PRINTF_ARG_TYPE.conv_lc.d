/* ASSERTION: %lc takes no string. */
BEGIN
{
	printf("%lc", "text");
	exit(0);
}
