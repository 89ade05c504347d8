/* ASSERTION: There is no tick-1days. */
tick-1days
{
	exit(0);
}
