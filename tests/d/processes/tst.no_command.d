/*
 * ASSERTION: A command that can not be executed ends it all.
 * @@args: -c "/nonexistent/command x"
 * @@exit: 1
 * @@stderr: dtrace: failed to execute /nonexistent/command: No such file or directory
 */
BEGIN
{
	exit(0);
}
