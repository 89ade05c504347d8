/* ASSERTION: trace() does not take a void expression. */
BEGIN
{
	trace((void)1);
}
