/*
 * ASSERTION: A record that just fits specsize is kept.
 */
#pragma D option quiet
#pragma D option specsize=24

BEGIN { spec = speculation(); }
BEGIN { speculate(spec); printf("fits\n"); kept = 1; }
BEGIN { speculate(spec); printf("does not\n"); kept = 2; }
BEGIN { commit(spec); }
BEGIN { printf("%d\n", kept); exit(0); }
