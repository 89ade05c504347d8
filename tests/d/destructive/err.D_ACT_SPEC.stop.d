/* ASSERTION: A destructive action may not be speculative. */
BEGIN
{
	speculate(1);
	stop();
	exit(0);
}
