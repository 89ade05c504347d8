/* ASSERTION: %ho takes no string. */
BEGIN
{
	printf("%ho", "text");
	exit(0);
}
