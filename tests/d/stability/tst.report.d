/*
 * ASSERTION: -e -v reports the least attributes of all names that the clauses use: of built-in
 * variables, subroutines, actions, inlines and aggregating functions alike.
 * @@args: -e -v
 */
#pragma D attributes Unstable/Unstable/ISA wobbly

inline int wobbly = 5;

BEGIN
{
	@[pid] = sum(htonl(1));
	trace(wobbly);
	exit(0);
}
