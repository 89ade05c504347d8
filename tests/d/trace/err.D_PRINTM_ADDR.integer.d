/* ASSERTION: printm() takes what memref() gives. */
BEGIN
{
	printm(4, 1);
}
