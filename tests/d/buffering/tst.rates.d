/*
 * ASSERTION: Rates may be given in any unit; a short statusrate, switchrate and aggrate change nothing that is printed.
 */
#pragma D option quiet
#pragma D option statusrate=10ms
#pragma D option switchrate=100hz
#pragma D option aggrate=20msec
#pragma D option cleanrate=50hz

tick-10ms { printf("%d\n", n++); @ = count(); }
tick-10ms /n == 4/ { printa("%@d\n", @); exit(0); }
