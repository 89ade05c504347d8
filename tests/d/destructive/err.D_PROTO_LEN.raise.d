/* ASSERTION: raise() takes one argument. */
BEGIN
{
	raise(1, 2);
	exit(0);
}
