/* ASSERTION: The string size of ustack() is a constant. */
BEGIN
{
	ustack(1, arg0);
}
