/* ASSERTION: arg9 can not be assigned to. */
BEGIN
{
	arg9 = 0;
	exit(0);
}
