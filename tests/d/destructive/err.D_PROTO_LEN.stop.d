/* ASSERTION: stop() takes nothing. */
BEGIN
{
	stop(1);
	exit(0);
}
