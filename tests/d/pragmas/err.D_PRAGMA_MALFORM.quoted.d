/* ASSERTION: an option is not quoted. */
#pragma D option "quiet"
BEGIN { exit(0); }
