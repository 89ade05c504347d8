/* ASSERTION: stack() has no value. */
BEGIN
{
	x = stack();
}
