/* ASSERTION: alloca() insists on the number of its arguments. */
BEGIN
{
	alloca();
	exit(0);
}
