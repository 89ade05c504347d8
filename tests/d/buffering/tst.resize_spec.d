/*
 * ASSERTION: The speculations' buffer is halved until it can be allocated.
 * @@stderr: dtrace: speculation size lowered to
 */
#pragma D option quiet
#pragma D option specsize=100t

BEGIN { spec = speculation(); }
BEGIN { speculate(spec); printf("speculated\n"); }
BEGIN { commit(spec); }
BEGIN { exit(0); }
