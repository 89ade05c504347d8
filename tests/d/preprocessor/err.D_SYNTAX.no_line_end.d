/* ASSERTION: a control line has an end. */
BEGIN { exit(0); }
#pragma D option quiet