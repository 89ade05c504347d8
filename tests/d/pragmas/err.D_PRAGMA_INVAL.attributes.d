/* ASSERTION: attributes are three known words. */
#pragma D attributes Good/Stable/Common x
int x;
BEGIN { exit(0); }
