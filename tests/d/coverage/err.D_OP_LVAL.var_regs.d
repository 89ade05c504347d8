/* ASSERTION: regs[] shows registers and cannot change them. */
BEGIN
{
	regs[0] = 1;
	exit(0);
}
