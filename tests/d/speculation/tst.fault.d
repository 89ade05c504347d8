/*
 * ASSERTION: A clause that faults behind speculate() adds nothing to the speculation, and keeps what was in it.
 */
#pragma D option quiet

ERROR { printf("action %d, fault %d\n", arg2, arg4); }
BEGIN { spec = speculation(); }
BEGIN { speculate(spec); printf("kept\n"); }
BEGIN { speculate(spec); printf("not kept\n"); x = *(int *)0; }
BEGIN { commit(spec); }
BEGIN { exit(0); }
