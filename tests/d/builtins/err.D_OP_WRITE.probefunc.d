/* ASSERTION: probefunc can not be assigned to. */
BEGIN
{
	probefunc = "x";
	exit(0);
}
