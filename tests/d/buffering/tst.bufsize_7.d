/*
 * ASSERTION: A buffer of less than 8 bytes is none.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: Enabling exceeds size of buffer
 */
#pragma D option bufsize=7

BEGIN { exit(0); }
