/* ASSERTION: jstack() needs at least one frame. */
BEGIN
{
	jstack(-1);
}
