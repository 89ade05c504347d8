/* ASSERTION: %X takes no string. */
BEGIN
{
	printf("%X", "text");
	exit(0);
}
