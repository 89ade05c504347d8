/* ASSERTION: guestid can not be assigned to. */
BEGIN
{
	guestid = 0;
	exit(0);
}
