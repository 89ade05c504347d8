/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a missing cell of a printa() of several histograms is an empty histogram, and of a number 0.
 */
#pragma D option quiet

BEGIN
{
	@q[1] = quantize(5);
	@l[2] = lquantize(5, 0, 10, 5);
	@ll[1] = llquantize(5, 2, 1, 6, 2);
	@m[2] = min(7);
	@s[1] = stddev(7);
	printa(@q, @l, @ll, @m, @s);
	printa("%d: %@d %@d %@d\n", @m, @s, @q);
	exit(0);
}
