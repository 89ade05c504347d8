/* ASSERTION: a provider has five components with attributes. */
#pragma D attributes Stable/Stable/Common provider dtrace color
BEGIN { exit(0); }
