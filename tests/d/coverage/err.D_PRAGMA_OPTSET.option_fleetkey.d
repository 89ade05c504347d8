/* ASSERTION: fleetkey is for the command line only. */
#pragma D option fleetkey=f

BEGIN
{
	exit(0);
}
