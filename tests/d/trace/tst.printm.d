/*
 * ASSERTION: printm() dumps as many bytes as its memref() has, but not more than its own size, whether
 * quiet or not.
 */
BEGIN
{
	x = alloca(20);
	bcopy("hello, world", x, 13);
	printm(20, memref(x, 13));
	printm(5, memref(x, 13));
	exit(0);
}
