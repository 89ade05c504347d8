/* ASSERTION: A precision is an integer. */
BEGIN
{
	printf("%.*d", "x", 1);
}
