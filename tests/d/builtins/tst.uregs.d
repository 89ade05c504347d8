/* ASSERTION: Without a guest uregs[] are those of the tracing process, by each of their names. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", uregs[R_PC] != 0, uregs[R_SP] == uregs[R_RSP], uregs[4] > 0);
	exit(0);
}
