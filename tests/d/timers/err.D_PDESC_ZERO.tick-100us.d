/* ASSERTION: There is no tick-100us. */
tick-100us
{
	exit(0);
}
