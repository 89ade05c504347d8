/* ASSERTION: getmajor() and getminor() part a device number. */
#pragma D option quiet

BEGIN
{
	printf("%d %d\n", getmajor(8 << 20 | 17), getminor(8 << 20 | 17));
	printf("%d %d\n", getmajor(0), getminor(0xfffff));
	exit(0);
}
