/* ASSERTION: %o takes no string. */
BEGIN
{
	printf("%o", "text");
	exit(0);
}
