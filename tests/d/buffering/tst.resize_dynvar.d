/*
 * ASSERTION: So is the space for dynamic variables.
 * @@stderr: dtrace: dynamic variable size lowered to
 */
#pragma D option quiet
#pragma D option dynvarsize=100g

BEGIN { a[1] = 2; printf("%d\n", a[1]); exit(0); }
