/* ASSERTION: walltimestamp can not be assigned to. */
BEGIN
{
	walltimestamp = 0;
	exit(0);
}
