/* ASSERTION: an option is one word. */
#pragma D option quiet please
BEGIN { exit(0); }
