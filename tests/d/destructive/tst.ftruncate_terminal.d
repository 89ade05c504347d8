/* ASSERTION: ftruncate() of what is no file does nothing. */
#pragma D option quiet

BEGIN
{
	printf("kept\n");
	ftruncate();
	printf("all\n");
	exit(0);
}
