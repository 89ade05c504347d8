/*
 * ASSERTION: nothing is closed that was not opened: at the top level a brace is no token.
 * @@stderr: dtrace: failed to compile script err.D_SYNTAX.close_brace.d: [D_SYNTAX] line 5: syntax error near "}"
 */
BEGIN { exit(0); } }
