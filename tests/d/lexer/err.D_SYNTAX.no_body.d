/*
 * ASSERTION: in a script a description has a body, also where another one follows.
 * @@stderr: dtrace: failed to compile script err.D_SYNTAX.no_body.d: [D_SYNTAX] line 5: expected predicate and/or actions following probe description
 */
BEGIN END { exit(0); }
