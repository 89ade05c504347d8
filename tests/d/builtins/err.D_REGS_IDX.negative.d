/* ASSERTION: uregs[] has no negative indices. */
BEGIN
{
	trace(uregs[-1]);
	exit(0);
}
