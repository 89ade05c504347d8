/* ASSERTION: One width is enough. */
BEGIN
{
	printf("%**d", 1, 2, 3);
}
