/* ASSERTION: arg4 can not be assigned to. */
BEGIN
{
	arg4 = 0;
	exit(0);
}
