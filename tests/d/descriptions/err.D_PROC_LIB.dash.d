/* ASSERTION: an address is one of some library. */
pid$pid::-:4f0
{
}
