/* ASSERTION: %llx takes no string. */
BEGIN
{
	printf("%llx", "text");
	exit(0);
}
