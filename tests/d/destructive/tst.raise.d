/* ASSERTION: Without a guest raise() signals the tracing process: SIGINT ends the trace as Ctrl-C does. */
#pragma D option quiet
#pragma D option destructive

BEGIN
{
	printf("begin\n");
	raise(SIGINT);
}

END
{
	printf("end\n");
}
