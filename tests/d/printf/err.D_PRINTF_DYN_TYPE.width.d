/* ASSERTION: A width is an integer. */
BEGIN
{
	printf("%*d", "x", 1);
}
