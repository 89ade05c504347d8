/*
 * ASSERTION: Tracing ends when the command does; how it ended is said, and is not the status.
 * @@args: -c false
 * @@stderr: dtrace: pid 
 */
END
{
	printf("over");
}
