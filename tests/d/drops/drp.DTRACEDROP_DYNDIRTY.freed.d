/*
 * ASSERTION: When cells were freed and not cleaned yet, a drop says so: it is another than having none at all.
 */
#pragma D option dynvarsize=1k
#pragma D option cleanrate=1min

int n;

tick-1ms { a[n] = "a string takes strsize bytes"; a[n] = 0; n++; }
tick-1ms /n == 40/ { exit(0); }
