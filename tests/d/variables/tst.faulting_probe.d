/* ASSERTION: In an ERROR clause errprov, errmod, errfunc and errname name the probe that faulted; probeprov and
 * its like name ERROR itself. Elsewhere they are empty. */
#pragma D option quiet
#pragma D option noerror

BEGIN
{
	printf("[%s%s%s%s]\n", errprov, errmod, errfunc, errname);
}

BEGIN
{
	trace(*(int *)NULL);
}

tick-10ms
/errname == ""/
{
	trace(1 / (epid - epid));
}

ERROR
{
	printf("%s:%s:%s:%s seen by %s:%s:%s:%s\n", errprov, errmod, errfunc, errname, probeprov, probemod, probefunc,
	    probename);
}

ERROR
/errprov == "profile"/
{
	exit(0);
}

END
{
	printf("[%s%s%s%s]\n", errprov, errmod, errfunc, errname);
}
