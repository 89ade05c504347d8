#!/usr/sbin/dtrace -s
/* As posted by R. Matthew Emerson, "DTrace and ccl", openmcl-devel, 12 October 2011. */

#pragma D option quiet

unsigned long bytes_used, start;
int i;

dtrace:::BEGIN
{
    i = 0;
    printf("%8s %14s %8s %8s\n", "serial", "elapsed ns", "K used", "K freed");
}

ccl$1:::gc-start
{
    bytes_used = arg0;
    start = walltimestamp;
}

ccl$1:::gc-finish
{
    printf("%8u %14u %8u %8u\n", i++, walltimestamp - start, bytes_used,  arg0);
}
