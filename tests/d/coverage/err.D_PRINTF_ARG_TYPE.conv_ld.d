/* ASSERTION: %ld takes no string. */
BEGIN
{
	printf("%ld", "text");
	exit(0);
}
