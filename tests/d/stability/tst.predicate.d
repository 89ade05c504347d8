/*
 * ASSERTION: the predicate counts, and a name's place in the description: profile's name is
 * Evolving; the names of its probes are unstable.
 * @@args: -e -v
 */
tick-1s
/curthread != NULL/
{
	exit(0);
}
