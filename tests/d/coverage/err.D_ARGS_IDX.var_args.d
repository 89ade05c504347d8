/* ASSERTION: dtrace:::BEGIN has no arguments of known types. */
BEGIN
{
	trace(args[0]);
	exit(0);
}
