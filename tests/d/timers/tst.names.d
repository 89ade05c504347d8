/*
 * ASSERTION: A timer made on demand bears the name it was asked for, with no module and no function.
 */
#pragma D option quiet

profile:::tick-7ms { printf("%s|%s|%s|%s\n", probeprov, probemod, probefunc, probename); exit(0); }
