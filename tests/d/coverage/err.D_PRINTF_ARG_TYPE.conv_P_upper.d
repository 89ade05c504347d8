/* ASSERTION: %P takes no string. */
BEGIN
{
	printf("%P", "text");
	exit(0);
}
