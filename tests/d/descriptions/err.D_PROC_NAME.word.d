/* ASSERTION: a process's probes are entry, return, or an offset. */
pid$pid:a.out:main:beginning
{
}
