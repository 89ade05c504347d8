/*
 * ASSERTION: A CPU that nothing has is an error.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: there is no CPU 3
 */
#pragma D option cpu=3

BEGIN { exit(0); }
