/*
 * ASSERTION: the predicate counts, and a name's place in the description: profile's name is
 * Evolving, its probes' are nobody's promise.
 * @@args: -e -v
 */
tick-1s
/curthread != NULL/
{
	exit(0);
}
