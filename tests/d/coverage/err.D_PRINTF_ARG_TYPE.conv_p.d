/* ASSERTION: %p takes no string. */
BEGIN
{
	printf("%p", "text");
	exit(0);
}
