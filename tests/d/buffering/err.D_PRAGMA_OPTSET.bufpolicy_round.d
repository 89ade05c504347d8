/* ASSERTION: bufpolicy=round is no value for this option. */
#pragma D option bufpolicy=round
BEGIN { exit(0); }
