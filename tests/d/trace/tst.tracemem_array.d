/*
 * ASSERTION: tracemem() takes arrays and integers for addresses.
 */
#pragma D option quiet

int numbers[3];

BEGIN
{
	numbers[1] = 0x41424344;
	tracemem(numbers, 12);
	x = (uintptr_t)alloca(4);
	tracemem(x, 4);
	exit(0);
}
