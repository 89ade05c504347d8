/* ASSERTION: strsize=-5 is no value for this option. */
#pragma D option strsize=-5
BEGIN { exit(0); }
