/* ASSERTION: caller can not be assigned to. */
BEGIN
{
	caller = 0;
	exit(0);
}
