/*
 * ASSERTION: Tracing ends with the command; how the command ended is printed, and does not change the exit status.
 * @@args: -c false
 * @@stderr: dtrace: pid 
 */
END
{
	printf("over");
}
