/*
 * ASSERTION: raise() needs -w.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: Destructive actions not allowed
 */
BEGIN
{
	raise(0);
	exit(0);
}
