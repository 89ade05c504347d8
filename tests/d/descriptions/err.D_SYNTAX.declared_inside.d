/* ASSERTION: declarations stand outside of clauses. */
BEGIN
{
	int x;
	exit(0);
}
