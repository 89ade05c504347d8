/* ASSERTION: The first argument of printm() is a constant. */
BEGIN
{
	printm(timestamp, memref(alloca(4), 4));
}
