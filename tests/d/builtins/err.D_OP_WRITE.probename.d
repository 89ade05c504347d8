/* ASSERTION: probename can not be assigned to. */
BEGIN
{
	probename = "x";
	exit(0);
}
