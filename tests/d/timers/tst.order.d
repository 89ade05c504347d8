/*
 * ASSERTION: Timers of several rates fire in the order of their times, and a clause on two timers fires for each.
 */
#pragma D option quiet

tick-100ms, tick-70ms { printf("%s\n", probename); }
tick-250ms { printf("%s\n", probename); exit(0); }
