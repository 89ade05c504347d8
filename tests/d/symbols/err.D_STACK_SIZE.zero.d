/* ASSERTION: stack() needs at least one frame. */
BEGIN
{
	stack(0);
}
