/* ASSERTION: a clause has one predicate. */
BEGIN
/1/
/2/
{
	exit(0);
}
