/*
 * ASSERTION: A ring buffer must have room for all that END records.
 * @@exit: 1
 * @@stderr: dtrace: could not enable tracing: END enablings exceed size of principal buffer
 */
#pragma D option bufpolicy=ring
#pragma D option bufsize=64

BEGIN { exit(0); }
END { trace("a string takes strsize bytes"); }
