/*
 * ASSERTION: in a file a description alone is nothing.
 * @@stderr: dtrace: failed to compile script err.D_SYNTAX.bare.d: [D_SYNTAX] line 5: expected predicate and/or actions following probe description
 */
dtrace:::BEGIN
