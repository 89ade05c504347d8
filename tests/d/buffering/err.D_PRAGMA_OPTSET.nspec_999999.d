/* ASSERTION: nspec=99999999999999999999 is no value for this option. */
#pragma D option nspec=99999999999999999999
BEGIN { exit(0); }
