/* ASSERTION: epid can not be assigned to. */
BEGIN
{
	epid = 0;
	exit(0);
}
