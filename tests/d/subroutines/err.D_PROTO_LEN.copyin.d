/* ASSERTION: copyin() insists on the number of its arguments. */
BEGIN
{
	copyin(5);
	exit(0);
}
