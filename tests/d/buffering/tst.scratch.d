/*
 * ASSERTION: Side effects of a clause that found no room do not happen; the next one's do.
 */
#pragma D option quiet
#pragma D option bufsize=64

BEGIN { n = 1; printf("%s", "too long"); }
BEGIN { n += 10; }
BEGIN { printf("%d\n", n); exit(0); }
