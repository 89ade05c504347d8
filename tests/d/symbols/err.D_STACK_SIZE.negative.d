/* ASSERTION: stack() takes no negative number. */
BEGIN
{
	stack(-1);
}
