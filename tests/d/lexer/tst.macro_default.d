/*
 * ASSERTION: under defaultargs an argument that was not given is 0, or the empty string.
 * @@args: -x defaultargs -x argref one
 */
#pragma D option quiet

BEGIN
/$9 == 0/
{
	printf("%d [%s] %s\n", $2, $$2, $$1);
	exit(0);
}
