/*
 * ASSERTION: Without a guest stack() ustack() jstack() have no frames: each is a newline.
 */
#pragma D option quiet

BEGIN
{
	stack();
	stack(3);
	ustack();
	ustack(3);
	ustack(3, 100);
	jstack();
	jstack(3, 0);
	printf("end\n");
	exit(0);
}
