/* ASSERTION: %hi takes no string. */
BEGIN
{
	printf("%hi", "text");
	exit(0);
}
