/*
 * ASSERTION: chill() needs -w.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: Destructive actions not allowed
 */
BEGIN
{
	chill(1);
	exit(0);
}
