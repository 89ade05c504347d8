/*
 * ASSERTION: A comma evaluates both sides, left first, and has the value of the right one.
 */
#pragma D option quiet

BEGIN { x = 1; y = (x = 5, x + 1); printf("%d %d\n", x, y); z = (x++, x++, x); printf("%d\n", z); exit(0); }
