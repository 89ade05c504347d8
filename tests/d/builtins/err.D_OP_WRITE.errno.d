/* ASSERTION: errno can not be assigned to. */
BEGIN
{
	errno = 0;
	exit(0);
}
