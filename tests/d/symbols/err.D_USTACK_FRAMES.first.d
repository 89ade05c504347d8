/* ASSERTION: What is wrong with the first argument of ustack() is said first. */
BEGIN
{
	ustack(0, 1, 2);
}
