/* ASSERTION: %x takes no string. */
BEGIN
{
	printf("%x", "text");
	exit(0);
}
