/* ASSERTION: %u takes no string. */
BEGIN
{
	printf("%u", "text");
	exit(0);
}
