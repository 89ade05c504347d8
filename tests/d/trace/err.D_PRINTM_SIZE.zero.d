/* ASSERTION: printm() shows at least one byte. */
BEGIN
{
	printm(0, memref(alloca(4), 4));
}
