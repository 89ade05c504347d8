/* ASSERTION: ustack() needs at least one frame. */
BEGIN
{
	ustack(0);
}
