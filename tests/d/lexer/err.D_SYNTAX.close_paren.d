/*
 * ASSERTION: nothing is closed that was not opened.
 * @@stderr: dtrace: failed to compile script err.D_SYNTAX.close_paren.d: [D_SYNTAX] line 5: extra ) in input stream
 */
BEGIN { exit(0)); }
