/* ASSERTION: %C takes no string. */
BEGIN
{
	printf("%C", "text");
	exit(0);
}
