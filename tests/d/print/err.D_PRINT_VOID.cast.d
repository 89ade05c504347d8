/* ASSERTION: print() does not take a void expression. */
BEGIN
{
	print((void)1);
}
