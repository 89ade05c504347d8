/*
 * ASSERTION: names are case-sensitive.
 * @@stderr: dtrace: failed to compile script err.D_PDESC_ZERO.case.d: [D_PDESC_ZERO] line 5: probe description :::Begin does not match any probes
 */
Begin
{
	exit(0);
}
