/* ASSERTION: ustack() takes two arguments. */
BEGIN
{
	ustack(1, 2, 3);
}
