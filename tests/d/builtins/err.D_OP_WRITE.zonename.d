/* ASSERTION: zonename can not be assigned to. */
BEGIN
{
	zonename = "x";
	exit(0);
}
