/* ASSERTION: there is no probe 0. */
0
{
	exit(0);
}
