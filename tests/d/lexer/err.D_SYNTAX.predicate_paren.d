/*
 * ASSERTION: the slash that ends a predicate closes no parenthesis.
 * @@stderr: dtrace: failed to compile script err.D_SYNTAX.predicate_paren.d: [D_SYNTAX] line 5: closing ) expected in predicate before /
 */
BEGIN /(pid > 0/ { exit(0); }
