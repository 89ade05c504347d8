/* ASSERTION: arg3 can not be assigned to. */
BEGIN
{
	arg3 = 0;
	exit(0);
}
