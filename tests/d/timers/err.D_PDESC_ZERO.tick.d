/* ASSERTION: There is no tick. */
tick
{
	exit(0);
}
