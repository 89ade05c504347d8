/*
 * ASSERTION: system() needs -w.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: Destructive actions not allowed
 */
BEGIN
{
	system("true");
	exit(0);
}
