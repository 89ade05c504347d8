/* ASSERTION: %hd takes no string. */
BEGIN
{
	printf("%hd", "text");
	exit(0);
}
