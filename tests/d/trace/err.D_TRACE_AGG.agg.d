/* ASSERTION: trace() does not take an aggregation. */
BEGIN
{
	@a = count();
	trace(@a);
}
