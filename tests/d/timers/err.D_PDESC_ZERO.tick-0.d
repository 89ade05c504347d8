/* ASSERTION: There is no tick-0. */
tick-0
{
	exit(0);
}
