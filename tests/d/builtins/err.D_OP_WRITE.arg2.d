/* ASSERTION: arg2 can not be assigned to. */
BEGIN
{
	arg2 = 0;
	exit(0);
}
