/* ASSERTION: arg0 can not be assigned to. */
BEGIN
{
	arg0 = 0;
	exit(0);
}
