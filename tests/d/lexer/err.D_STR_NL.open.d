/*
 * ASSERTION: a string ends on its line.
 * @@stderr: dtrace: failed to compile script err.D_STR_NL.open.d: [D_STR_NL] line 7: newline encountered in string literal
 */
BEGIN
{
	trace("one
two");
}
