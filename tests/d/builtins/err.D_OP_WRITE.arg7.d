/* ASSERTION: arg7 can not be assigned to. */
BEGIN
{
	arg7 = 0;
	exit(0);
}
