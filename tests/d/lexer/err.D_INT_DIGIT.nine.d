/*
 * ASSERTION: octal numbers have no 9.
 * @@stderr: dtrace: failed to compile script err.D_INT_DIGIT.nine.d: [D_INT_DIGIT] line 7: constant 0190 contains invalid digit 9
 */
BEGIN
{
	trace(0190);
}
