/*
 * ASSERTION: Several speculations at once keep apart; each is committed by itself, in the order of the commits.
 */
#pragma D option quiet
#pragma D option nspec=3

BEGIN { a = speculation(); b = speculation(); c = speculation(); printf("%d %d %d\n", a, b, c); }
BEGIN { speculate(a); printf("a1\n"); }
BEGIN { speculate(b); printf("b1\n"); }
BEGIN { speculate(c); printf("c1\n"); }
BEGIN { speculate(a); printf("a2\n"); }
BEGIN { commit(b); }
BEGIN { discard(c); }
BEGIN { commit(a); }
BEGIN { exit(0); }
