/* ASSERTION: arg1 can not be assigned to. */
BEGIN
{
	arg1 = 0;
	exit(0);
}
