/*
 * ASSERTION: the slash that ends a predicate closes no bracket.
 * @@stderr: dtrace: failed to compile script err.D_SYNTAX.predicate_bracket.d: [D_SYNTAX] line 5: closing ] expected in predicate before /
 */
BEGIN /x[1 == 0/ { exit(0); }
