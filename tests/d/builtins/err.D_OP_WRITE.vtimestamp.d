/* ASSERTION: vtimestamp can not be assigned to. */
BEGIN
{
	vtimestamp = 0;
	exit(0);
}
