/*
 * ASSERTION: Committed data is printed at the commit, behind what the probe's other clauses recorded before.
 */
#pragma D option quiet

BEGIN { spec = speculation(); printf("spec %d\n", spec); }
BEGIN { speculate(spec); printf("first %s\n", probename); }
BEGIN { speculate(spec); printf("second\n"); }
BEGIN { printf("before the commit\n"); }
BEGIN { commit(spec); }
BEGIN { printf("after the commit\n"); exit(0); }
