/* ASSERTION: Without a guest stop() stops the tracing process until somebody lets it go on. */
#pragma D option quiet
#pragma D option destructive
#pragma D option switchrate=10ms

BEGIN
{
	system("(while [ $(cut -d \" \" -f 3 /proc/%d/stat) != T ]; do sleep 0.01; done; kill -CONT %d) &", $pid, $pid);
}

tick-50ms
/!stopped++/
{
	stop();
}

tick-50ms
/stopped > 1/
{
	printf("on again\n");
	exit(0);
}
