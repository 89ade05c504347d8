/* ASSERTION: arg5 can not be assigned to. */
BEGIN
{
	arg5 = 0;
	exit(0);
}
