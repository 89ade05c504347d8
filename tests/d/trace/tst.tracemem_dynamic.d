/*
 * ASSERTION: tracemem()'s third argument says how many of the bytes are shown: none at 0; a negative number, of
 * whatever type, and more than there are show all.
 */
#pragma D option quiet

BEGIN
{
	x = alloca(20);
	bcopy("hello, world", x, 13);
	n = 5;
	tracemem(x, 18, n);
	tracemem(x, 18, 17);
	tracemem(x, 18, n - n);
	tracemem(x, 18, 100);
	tracemem(x, 1, (char)1);
	tracemem(x, 4, -1);
	tracemem(x, 4, (char)(0 - n));
	tracemem(x, 4, (uint8_t)3);
	exit(0);
}
