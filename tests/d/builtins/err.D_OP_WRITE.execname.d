/* ASSERTION: execname can not be assigned to. */
BEGIN
{
	execname = "x";
	exit(0);
}
