/* ASSERTION: fleetmergers is for the command line only. */
#pragma D option fleetmergers=m1

BEGIN
{
	exit(0);
}
