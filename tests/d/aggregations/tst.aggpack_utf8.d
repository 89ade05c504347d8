/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: with encoding=utf8 aggpack uses the eight block elements and falls back to v for negative counts.
 */
#pragma D option quiet
#pragma D option aggpack
#pragma D option encoding=utf8

BEGIN
{
	@a = lquantize(0, 0, 8, 1, 1);
	@a = lquantize(1, 0, 8, 1, 2);
	@a = lquantize(2, 0, 8, 1, 4);
	@a = lquantize(3, 0, 8, 1, 8);
	@a = lquantize(4, 0, 8, 1, 16);
	@a = lquantize(5, 0, 8, 1, 32);
	@a = lquantize(6, 0, 8, 1, -3);
	printa(@a);
	setopt("aggzoom");
	printa(@a);
	exit(0);
}
