/*
 * ASSERTION: A rate holds over time, however busy the machine is: n firings take n intervals.
 */
#pragma D option quiet

tick-2ms { @a = count(); }
tick-10ms { @b = count(); }
tick-200ms { exit(0); }
END { printa("%@d\n", @a); printa("%@d\n", @b); }
