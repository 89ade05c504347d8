/*
 * ASSERTION: The ring keeps the youngest records, oldest first, and gives them out at the end only.
 */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=96

tick-1ms { printf("%d\n", n++); }
tick-1ms /n == 100/ { exit(0); }
