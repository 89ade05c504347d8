/* ASSERTION: %lld takes no string. */
BEGIN
{
	printf("%lld", "text");
	exit(0);
}
