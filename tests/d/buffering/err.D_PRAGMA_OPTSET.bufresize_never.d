/* ASSERTION: bufresize=never is no value for this option. */
#pragma D option bufresize=never
BEGIN { exit(0); }
