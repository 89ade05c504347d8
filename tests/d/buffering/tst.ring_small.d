/*
 * ASSERTION: A record larger than the ring is dropped; a smaller one is still stored.
 * @@stderr: dtrace: 1 drop on CPU 0
 */
#pragma D option quiet
#pragma D option bufpolicy=ring
#pragma D option bufsize=16

BEGIN { printf("%d\n", timestamp); }
tick-10ms { exit(0); }
