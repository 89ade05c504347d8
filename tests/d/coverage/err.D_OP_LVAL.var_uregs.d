/* ASSERTION: uregs[] shows registers and cannot change them. */
BEGIN
{
	uregs[0] = 1;
	exit(0);
}
