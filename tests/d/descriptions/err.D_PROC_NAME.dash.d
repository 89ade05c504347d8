/* ASSERTION: outside of functions there are addresses only. */
pid$pid:a.out:-:*
{
}
