/* ASSERTION: freopen() sends what follows to a file, made from a format; an empty name goes back. */
#pragma D option quiet
#pragma D option destructive

BEGIN
{
	printf("to the terminal\n");
	freopen("/tmp/tst.freopen.%d.%s", $pid, "out");
	printf("to the file\n");
	freopen("/tmp/tst.freopen.%d.more", $pid);
	printf("to another\n");
	freopen("");
	printf("back\n");
	system("cat /tmp/tst.freopen.%d.out /tmp/tst.freopen.%d.more; rm /tmp/tst.freopen.%d.*", $pid, $pid, $pid);
	exit(0);
}
