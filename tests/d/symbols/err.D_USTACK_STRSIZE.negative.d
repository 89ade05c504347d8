/* ASSERTION: The string size of ustack() is not negative. */
BEGIN
{
	ustack(1, -1);
}
