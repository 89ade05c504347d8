/*
 * ASSERTION: Records of unlike sizes wrap around a small ring, whose every size must work.
 */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=80

tick-1ms { printf("%d\n", n++); }
tick-1ms /n % 2/ { printf("%d %d\n", (char)n, (long)n); }
tick-1ms /n % 3 == 0/ { printf("third\n"); }
tick-1ms /n == 50/ { exit(0); }
