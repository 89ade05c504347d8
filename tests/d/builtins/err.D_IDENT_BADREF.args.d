/* ASSERTION: args is an array. */
BEGIN
{
	trace(args);
	exit(0);
}
