/* ASSERTION: ipl can not be assigned to. */
BEGIN
{
	ipl = 0;
	exit(0);
}
