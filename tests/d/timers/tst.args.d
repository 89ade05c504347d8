/*
 * ASSERTION: Without a guest a timer fires outside any kernel: arg0 is 0, arg1 is not.
 */
#pragma D option quiet

profile-97 { printf("%s %d %d\n", probename, arg0, arg1 != 0); n++; }
tick-100 { printf("%s %d %d\n", probename, arg0, arg1 != 0); n++; }
tick-100 / n > 1 / { exit(0); }
