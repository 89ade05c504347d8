/*
 * ASSERTION: Without a guest stop() stops the tracing process until it is continued.
 * @@args: -c "sh let_parent_go_on.sh"
 */
#pragma D option quiet
#pragma D option destructive

tick-10ms
/!stopped++/
{
	stop();
}

/* The command ends when it has seen us stopped, and with it the tracing. */
END
/stopped/
{
	printf("on again\n");
}
