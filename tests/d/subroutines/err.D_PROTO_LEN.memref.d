/* ASSERTION: memref() insists on the number of its arguments. */
BEGIN
{
	memref(alloca(1));
	exit(0);
}
