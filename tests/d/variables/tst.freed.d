/*
 * ASSERTION: Assigning 0 to a dynamic variable gives its room back: far more can be set and freed than fit.
 */
#pragma D option quiet
#pragma D option dynvarsize=256k
#pragma D option cleanrate=1000hz

int n;

tick-1ms { a[n] = n; a[n] = 0; self->b = "x"; self->b = 0; }
tick-1ms { n++; }
tick-1ms /n == 1000/ { a[1] = 5; printf("%d %d\n", a[1], self->b == NULL); exit(0); }
