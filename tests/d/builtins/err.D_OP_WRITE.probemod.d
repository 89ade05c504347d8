/* ASSERTION: probemod can not be assigned to. */
BEGIN
{
	probemod = "x";
	exit(0);
}
