/* ASSERTION: args[] takes one index. */
BEGIN
{
	trace(args[0, 1]);
	exit(0);
}
