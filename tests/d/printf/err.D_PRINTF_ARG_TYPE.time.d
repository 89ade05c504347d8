/* ASSERTION: %Y takes 64 bits. */
BEGIN
{
	printf("%Y", 1);
}
