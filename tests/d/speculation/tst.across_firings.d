/*
 * ASSERTION: A speculation stays open from one firing to the next.
 */
#pragma D option quiet

int n;

BEGIN { spec = speculation(); }
tick-10ms /n < 3/ { speculate(spec); printf("%d\n", n); }
tick-10ms { n++; }
tick-10ms /n == 4/ { commit(spec); }
tick-10ms /n == 5/ { exit(0); }
