/* ASSERTION: id can not be assigned to. */
BEGIN
{
	id = 0;
	exit(0);
}
