/* ASSERTION: inject is for the command line only. */
#pragma D option inject=on

BEGIN
{
	exit(0);
}
