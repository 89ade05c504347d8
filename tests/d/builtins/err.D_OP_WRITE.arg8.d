/* ASSERTION: arg8 can not be assigned to. */
BEGIN
{
	arg8 = 0;
	exit(0);
}
