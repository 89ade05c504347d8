/* ASSERTION: An aggregation is no argument. */
BEGIN
{
	@a = count();
	printf("%d", @a);
}
