/* ASSERTION: trace() needs an argument. */
BEGIN
{
	trace();
}
