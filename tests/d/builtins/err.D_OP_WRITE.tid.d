/* ASSERTION: tid can not be assigned to. */
BEGIN
{
	tid = 0;
	exit(0);
}
