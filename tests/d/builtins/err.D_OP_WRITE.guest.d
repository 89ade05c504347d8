/* ASSERTION: guest can not be assigned to. */
BEGIN
{
	guest = "x";
	exit(0);
}
