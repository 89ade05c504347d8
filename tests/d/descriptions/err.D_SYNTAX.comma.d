/* ASSERTION: a list of descriptions does not end with a comma. */
BEGIN,
{
	exit(0);
}
