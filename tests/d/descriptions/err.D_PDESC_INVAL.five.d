/*
 * ASSERTION: a description has four fields; without guests none more.
 * @@stderr: dtrace: failed to compile script err.D_PDESC_INVAL.five.d: [D_PDESC_INVAL] line 5: invalid probe description "*:dtrace:::BEGIN": Overspecified probe description
 */
*:dtrace:::BEGIN
{
	exit(0);
}
