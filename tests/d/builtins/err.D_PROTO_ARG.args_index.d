/* ASSERTION: args[] takes an integer constant. */
BEGIN
{
	trace(args[arg0]);
	exit(0);
}
