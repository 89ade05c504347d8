/* ASSERTION: Registers that are not there are an illegal operation. */
#pragma D option quiet

BEGIN { trace(regs[0]); }
BEGIN { trace(uregs[1000]); }
BEGIN { trace(vmregs[0]); }

ERROR
{
	printf("%d\n", arg4 == DTRACEFLT_ILLOP);
}

BEGIN
{
	exit(0);
}
