/*
 * ASSERTION: Without -x droptags a drop has no tag.
 * @@stderr: dtrace: 1 failed speculation (no speculative buffer available)
 */
#pragma D option quiet
#pragma D option nspec=0
BEGIN { spec = speculation(); exit(spec); }
