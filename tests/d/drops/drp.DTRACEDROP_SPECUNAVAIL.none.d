/* ASSERTION: With -x nspec=0 every speculation() fails. */
/* @@stderr: dtrace: [DTRACEDROP_SPECUNAVAIL] 2 failed speculations (no speculative buffer available) */
#pragma D option nspec=0
BEGIN { a = speculation(); b = speculation(); }
BEGIN { exit(a + b); }
