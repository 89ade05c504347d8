/* ASSERTION: %c takes no string. */
BEGIN
{
	printf("%c", "text");
	exit(0);
}
