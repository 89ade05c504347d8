/* ASSERTION: cpu=-2 is no value for this option. */
#pragma D option cpu=-2
BEGIN { exit(0); }
