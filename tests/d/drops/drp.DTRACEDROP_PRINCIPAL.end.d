/* ASSERTION: END has no room reserved in a switched buffer. */
/* @@stderr: dtrace: [DTRACEDROP_PRINCIPAL] 1 drop on CPU 0 */
#pragma D option bufsize=64
BEGIN { exit(0); }
END { trace("a string takes strsize bytes"); }
