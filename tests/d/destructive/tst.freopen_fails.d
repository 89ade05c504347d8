/*
 * ASSERTION: Where freopen() can not open its file the output stays, and what went wrong is said.
 * @@stderr: dtrace: error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): couldn't freopen() "..": Is a directory
 */
#pragma D option quiet
#pragma D option destructive

BEGIN
{
	freopen("%s%c", ".", '.');
	printf("still here\n");
	freopen("/nonexistent/%d", 1);
	printf("and here\n");
	exit(0);
}
