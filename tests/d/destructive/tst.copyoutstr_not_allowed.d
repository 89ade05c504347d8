/*
 * ASSERTION: copyoutstr() needs -w.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: Destructive actions not allowed
 */
BEGIN
{
	copyoutstr("x", 0, 1);
	exit(0);
}
