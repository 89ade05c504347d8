/* ASSERTION: %d takes no string. */
BEGIN
{
	printf("%d", "text");
	exit(0);
}
