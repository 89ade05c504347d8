/* ASSERTION: There is no tick-1.5s. */
tick-1.5s
{
	exit(0);
}
