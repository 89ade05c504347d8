/* ASSERTION: gid can not be assigned to. */
BEGIN
{
	gid = 0;
	exit(0);
}
