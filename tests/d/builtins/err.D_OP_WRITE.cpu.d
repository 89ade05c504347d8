/* ASSERTION: cpu can not be assigned to. */
BEGIN
{
	cpu = 0;
	exit(0);
}
