/* ASSERTION: a slash ends a predicate where a brace, a semicolon, a slash or the end follows. */
#pragma D option quiet

int x;

BEGIN { x = 12; }
BEGIN /x / 4 == 3/ { printf("%d ", x /2/ 3); }
BEGIN
/ (x / 5) /
{
	x = x
	    / 2;
	x /= 3;
	printf("%d\n", x);
	exit(0);
}
