/*
 * ASSERTION: -p takes a number.
 * @@args: -p init
 * @@exit: 1
 * @@stderr: dtrace: invalid pid: init
 */
BEGIN
{
	exit(0);
}
