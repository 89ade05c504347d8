/* ASSERTION: dtypes is for the command line only. */
#pragma D option dtypes=1

BEGIN
{
	exit(0);
}
