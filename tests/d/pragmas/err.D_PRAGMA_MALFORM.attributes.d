/* ASSERTION: attributes are for something. */
#pragma D attributes Stable/Stable/Common
BEGIN { exit(0); }
