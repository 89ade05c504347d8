/* ASSERTION: ftruncate() empties the file that is the output. */
#pragma D option quiet
#pragma D option destructive

BEGIN
{
	freopen("/tmp/tst.ftruncate.%d", $pid);
	printf("this goes\n");
	ftruncate();
	printf("this stays\n");
	freopen("");
	system("cat /tmp/tst.ftruncate.%d; rm /tmp/tst.ftruncate.%d", $pid, $pid);
	exit(0);
}
