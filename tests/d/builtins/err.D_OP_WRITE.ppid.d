/* ASSERTION: ppid can not be assigned to. */
BEGIN
{
	ppid = 0;
	exit(0);
}
