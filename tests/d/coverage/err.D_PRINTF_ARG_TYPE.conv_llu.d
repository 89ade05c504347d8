/* ASSERTION: %llu takes no string. */
BEGIN
{
	printf("%llu", "text");
	exit(0);
}
