/* ASSERTION: a process that is not there has no probes. */
pid2147483646:libc.so:malloc:entry
{
}
