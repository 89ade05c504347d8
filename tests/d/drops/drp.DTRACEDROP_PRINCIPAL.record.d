/* ASSERTION: A record larger than the buffer is dropped, and the clause that would have made it is skipped. */
/* @@stderr: dtrace: [DTRACEDROP_PRINCIPAL] 1 drop on CPU 0 */
#pragma D option bufsize=64
BEGIN { n++; trace("a string takes strsize bytes"); }
BEGIN { exit(n); }
