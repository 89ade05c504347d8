/* ASSERTION: a list of descriptions must not end with a comma. */
BEGIN,
{
	exit(0);
}
