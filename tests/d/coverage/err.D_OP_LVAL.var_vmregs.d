/* ASSERTION: vmregs[] shows registers and cannot change them. */
BEGIN
{
	vmregs[0] = 1;
	exit(0);
}
