/*
 * ASSERTION: #line and # set the number of the next line and its file.
 * @@stderr: dtrace: failed to compile script err.D_IDENT_UNDEF.line.d: [D_IDENT_UNDEF] "other.d", line 42: failed to resolve nothing: Unknown variable name
 */
#line 7
# 40 "other.d" 1
BEGIN
{
	trace(nothing);
}
