/*
 * ASSERTION: breakpoint() needs -w.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: Destructive actions not allowed
 */
BEGIN
{
	breakpoint();
	exit(0);
}
