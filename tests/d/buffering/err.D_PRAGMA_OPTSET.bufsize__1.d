/* ASSERTION: bufsize=-1 is no value for this option. */
#pragma D option bufsize=-1
BEGIN { exit(0); }
