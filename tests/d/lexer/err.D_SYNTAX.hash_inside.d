/* ASSERTION: a control line begins its line. */
BEGIN { exit(0); } #pragma D option quiet
