/* ASSERTION: what the pid provider would do, it cannot do where there is none. */
pid$pid:a.out:main:entry
{
}
