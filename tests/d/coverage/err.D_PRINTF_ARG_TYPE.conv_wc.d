/* ASSERTION: %wc takes no string. */
BEGIN
{
	printf("%wc", "text");
	exit(0);
}
