/* ASSERTION: D has no positional conversions. */
BEGIN
{
	printf("%1$d", 1);
}
