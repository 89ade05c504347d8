/* ASSERTION: %llo takes no string. */
BEGIN
{
	printf("%llo", "text");
	exit(0);
}
