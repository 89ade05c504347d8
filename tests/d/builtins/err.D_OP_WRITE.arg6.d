/* ASSERTION: arg6 can not be assigned to. */
BEGIN
{
	arg6 = 0;
	exit(0);
}
