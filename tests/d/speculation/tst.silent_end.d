/*
 * ASSERTION: speculate() with 0, or an id that was never given, committed or discarded ends its clause: no data, no
 * assignment behind it, no error.
 */
#pragma D option quiet
#pragma D option nspec=2

ERROR { printf("an error\n"); exit(1); }
BEGIN { a = speculation(); b = speculation(); }
BEGIN { commit(a); }
BEGIN { discard(b); }
BEGIN { speculate(0); printf("no"); n++; }
BEGIN { speculate(a); printf("no"); n++; }
BEGIN { speculate(b); printf("no"); n++; }
BEGIN { speculate(99); printf("no"); n++; }
BEGIN { speculate(-1); printf("no"); n++; }
BEGIN { before++; speculate(0); n++; }
BEGIN { printf("%d %d\n", n, before); exit(0); }
