/*
 * ASSERTION: panic() needs -w.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: Destructive actions not allowed
 */
BEGIN
{
	panic();
	exit(0);
}
