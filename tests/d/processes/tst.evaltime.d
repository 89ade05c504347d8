/*
 * ASSERTION: evaltime takes the four places at which a command can be held.
 * @@args: -x evaltime=main -x evaltime=exec -x evaltime=preinit -x evaltime=postinit -c "sleep 10"
 */
#pragma D option quiet

BEGIN
{
	printf("%d\n", $target > 1);
	exit(0);
}
