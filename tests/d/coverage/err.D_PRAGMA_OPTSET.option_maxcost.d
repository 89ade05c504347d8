/* ASSERTION: maxcost refuses a value that is none. */
#pragma D option maxcost=101

BEGIN
{
	exit(0);
}
