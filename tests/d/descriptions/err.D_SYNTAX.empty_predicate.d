/* ASSERTION: a predicate has an expression. */
BEGIN
/ /
{
	exit(0);
}
