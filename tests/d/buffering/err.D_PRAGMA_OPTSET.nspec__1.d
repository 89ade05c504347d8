/* ASSERTION: nspec=-1 is no value for this option. */
#pragma D option nspec=-1
BEGIN { exit(0); }
