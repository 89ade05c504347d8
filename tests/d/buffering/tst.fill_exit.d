/*
 * ASSERTION: All records of a fill buffer that never fills are printed at the end.
 */
#pragma D option quiet
#pragma D option bufpolicy=fill

BEGIN { printf("begin\n"); }
tick-10ms { printf("%d\n", n++); }
tick-10ms /n == 3/ { exit(3); }
END { printf("end\n"); exit(0); }
