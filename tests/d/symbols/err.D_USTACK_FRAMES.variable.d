/* ASSERTION: The frames of ustack() are a constant. */
BEGIN
{
	ustack(arg0);
}
