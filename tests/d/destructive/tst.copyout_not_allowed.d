/*
 * ASSERTION: copyout() needs -w.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: Destructive actions not allowed
 */
BEGIN
{
	copyout(alloca(1), 0, 1);
	exit(0);
}
