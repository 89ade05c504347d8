/*
 * ASSERTION: Discarded data never shows, and its id is free at once for the next speculation().
 */
#pragma D option quiet

BEGIN { spec = speculation(); }
BEGIN { speculate(spec); printf("not shown\n"); }
BEGIN { discard(spec); }
BEGIN { commit(spec); }
BEGIN { next = speculation(); printf("%d %d\n", spec, next); exit(0); }
