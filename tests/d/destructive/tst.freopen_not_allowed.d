/*
 * ASSERTION: freopen() needs -w.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: Destructive actions not allowed
 */
BEGIN
{
	freopen("/dev/null");
	exit(0);
}
