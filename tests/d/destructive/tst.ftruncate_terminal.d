/* ASSERTION: ftruncate() of anything but a file has no effect. */
#pragma D option quiet

BEGIN
{
	printf("kept\n");
	ftruncate();
	printf("all\n");
	exit(0);
}
