/* ASSERTION: %Y takes no string. */
BEGIN
{
	printf("%Y", "text");
	exit(0);
}
