/* ASSERTION: vmregs[] has no such index. */
BEGIN
{
	trace(vmregs[65536]);
	exit(0);
}
