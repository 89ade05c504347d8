/* ASSERTION: %I takes a string. */
BEGIN
{
	printf("%I", 1);
}
