/*
 * ASSERTION: A buffer's size is rounded down to a multiple of 8: the third record would have fit 48 bytes.
 * @@stderr: dtrace: [DTRACEDROP_PRINCIPAL] 1 drop on CPU 0
 */
#pragma D option bufsize=47
#pragma D option switchrate=10ms

BEGIN { trace((int)1); }
BEGIN { trace((int)2); }
BEGIN { trace((int)3); }
tick-100ms { exit(0); }
