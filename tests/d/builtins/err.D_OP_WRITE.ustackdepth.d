/* ASSERTION: ustackdepth can not be assigned to. */
BEGIN
{
	ustackdepth = 0;
	exit(0);
}
