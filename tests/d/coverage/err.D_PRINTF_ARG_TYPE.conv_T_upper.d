/* ASSERTION: %T takes no string. */
BEGIN
{
	printf("%T", "text");
	exit(0);
}
