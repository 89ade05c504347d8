/* ASSERTION: probeprov can not be assigned to. */
BEGIN
{
	probeprov = "x";
	exit(0);
}
