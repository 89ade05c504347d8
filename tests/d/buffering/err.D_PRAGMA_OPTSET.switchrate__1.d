/* ASSERTION: switchrate=-1 is no value for this option. */
#pragma D option switchrate=-1
BEGIN { exit(0); }
