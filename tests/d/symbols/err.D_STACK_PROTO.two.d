/* ASSERTION: stack() takes one argument. */
BEGIN
{
	stack(1, 2);
}
