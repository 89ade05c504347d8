/*
 * ASSERTION: commit() and discard() of 0 and of an id that is not open do nothing; one that can't be is an illegal
 * operation.
 */
#pragma D option quiet

ERROR { printf("clause %d: fault %d in action %d\n", arg1, arg4, arg2); }
BEGIN { spec = speculation(); }
BEGIN { commit(spec); }
BEGIN { commit(spec); }
BEGIN { discard(spec); }
BEGIN { commit(0); }
BEGIN { discard(0); }
BEGIN { printf("so far\n"); }
BEGIN { commit(2); }
BEGIN { discard(2); }
BEGIN { commit(-1); }
BEGIN { discard(-1); }
BEGIN { exit(0); }
