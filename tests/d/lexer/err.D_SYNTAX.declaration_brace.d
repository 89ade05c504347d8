/*
 * ASSERTION: nothing is closed that was not opened, in a declaration either.
 * @@stderr: dtrace: failed to compile script err.D_SYNTAX.declaration_brace.d: [D_SYNTAX] line 5: extra } in input stream
 */
int x };
