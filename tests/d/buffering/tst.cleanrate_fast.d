/*
 * ASSERTION: cleanrate has a fastest value; what is asked above it is reduced, and that is said.
 * @@stderr: dtrace: cleaning rate reduced to 5000 hz
 */
#pragma D option quiet
#pragma D option cleanrate=10000hz

BEGIN { exit(0); }
