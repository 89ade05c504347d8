/*
 * ASSERTION: An element of an array that was never assigned is NULL: what would lie in it cannot be written.
 */
#pragma D option quiet

int last[int][4];

ERROR { printf("%d\n", arg4 == DTRACEFLT_BADADDR); }
BEGIN { last[1][3] = 1; }
BEGIN { last[1][-5] = 1; }
BEGIN { exit(0); }
