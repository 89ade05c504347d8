/* ASSERTION: pid can not be assigned to. */
BEGIN
{
	pid = 0;
	exit(0);
}
