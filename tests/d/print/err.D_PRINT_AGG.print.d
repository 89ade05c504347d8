/* ASSERTION: print() does not take an aggregation. */
BEGIN
{
	@a = count();
	print(@a);
}
