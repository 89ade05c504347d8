/* ASSERTION: uid can not be assigned to. */
BEGIN
{
	uid = 0;
	exit(0);
}
