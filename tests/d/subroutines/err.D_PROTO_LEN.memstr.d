/* ASSERTION: memstr() insists on the number of its arguments. */
BEGIN
{
	memstr(alloca(1), 0);
	exit(0);
}
