/* A clause that faults, and one that says which probe it was. */
#pragma D option quiet
#pragma D option noerror

int faults;

syscall::getppid:entry
{
	trace(*(int *)arg0);
}

ERROR
{
	printf("%s:%s:%s:%s: fault %d in action %d, address 0x%x\n", errprov, errmod, errfunc, errname, arg4, arg2,
	    arg5);
}

ERROR
/++faults == 3/
{
	exit(0);
}
