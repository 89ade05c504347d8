/* ASSERTION: regs[] has no negative indices. */
BEGIN
{
	trace(regs[-1]);
	exit(0);
}
