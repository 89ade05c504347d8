/*
 * ASSERTION: cleanrate has a slowest value.
 * @@stderr: dtrace: cleaning rate increased to once every 60 seconds
 */
#pragma D option quiet
#pragma D option cleanrate=1hour

BEGIN { exit(0); }
