/*
 * ASSERTION: A process that has gone can not be grabbed.
 * @@args: -p 2147483647
 * @@exit: 1
 * @@stderr: dtrace: failed to grab pid 2147483647: No such process
 */
BEGIN
{
	exit(0);
}
