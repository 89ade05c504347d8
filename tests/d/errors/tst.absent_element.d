/*
 * ASSERTION: An array in an element that was never assigned can be written; what lies before it cannot.
 */
#pragma D option quiet

int last[int][4];

ERROR { printf("%d\n", arg4 == DTRACEFLT_BADADDR); }
BEGIN { last[1][3] = 1; printf("%d %d\n", last[1][3], last[1][0]); }
BEGIN { p = &last[1][0]; p[-5000000] = 1; }
BEGIN { exit(0); }
