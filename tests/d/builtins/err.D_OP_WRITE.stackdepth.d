/* ASSERTION: stackdepth can not be assigned to. */
BEGIN
{
	stackdepth = 0;
	exit(0);
}
