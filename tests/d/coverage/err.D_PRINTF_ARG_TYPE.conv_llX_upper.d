/* ASSERTION: %llX takes no string. */
BEGIN
{
	printf("%llX", "text");
	exit(0);
}
