/* ASSERTION: a program of names that are as stable as the minimum compiles. */
#pragma D option amin=Stable/Stable/Common
#pragma D option quiet

BEGIN
{
	self->a = pid > 0;
	@[probename] = count();
	printf("%d %s\n", self->a, probename);
	exit(0);
}
