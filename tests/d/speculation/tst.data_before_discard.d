/*
 * ASSERTION: discard() may stand before and behind data, in a clause that speculates too: what that clause adds to
 * the id it just gave up is gone.
 */
#pragma D option quiet
#pragma D option nspec=2

BEGIN { a = speculation(); b = speculation(); }
BEGIN { printf("one\n"); discard(a); printf("two\n"); }
BEGIN { discard(a); speculate(b); printf("three\n"); }
BEGIN { commit(b); }
BEGIN { exit(0); }
