/* ASSERTION: actions belong to a description. */
{
	exit(0);
}
