/* ASSERTION: %hu takes no string. */
BEGIN
{
	printf("%hu", "text");
	exit(0);
}
