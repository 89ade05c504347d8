/*
 * ASSERTION: $target is the first -c or -p process, which tracing waits for.
 * @@args: -c 'sleep 0.05' -c true
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d\n", $target > 1, $target == pid);
}

END
{
	printf("%d %s\n", $target > 1, probename);
}
