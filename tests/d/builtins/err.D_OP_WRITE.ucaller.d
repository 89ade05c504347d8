/* ASSERTION: ucaller can not be assigned to. */
BEGIN
{
	ucaller = 0;
	exit(0);
}
