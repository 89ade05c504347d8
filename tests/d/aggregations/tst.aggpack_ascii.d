/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: aggpack packs quantize and lquantize into a line, with one range for all keys; ends are four columns wide at least.
 */
#pragma D option quiet
#pragma D option aggpack
#pragma D option encoding=ascii

BEGIN
{
	@one = quantize(1);
	@big = quantize(1 << 40);
	@key["a"] = quantize(3);
	@key["b"] = quantize(-70000);
	@key["b"] = quantize(5, -2);
	@lq[1] = lquantize(-5, 0, 5, 1);
	@lq[1] = lquantize(3, 0, 5, 1, 9);
	@lq[2] = lquantize(99, 0, 5, 1);
	@llq = llquantize(5, 10, 0, 1, 10);
	exit(0);
}
