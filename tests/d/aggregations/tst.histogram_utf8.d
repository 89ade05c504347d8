/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: encoding=utf8 draws bars in eighths of a column, negative ones with @ as ever.
 */
#pragma D option quiet
#pragma D option encoding=utf8

BEGIN
{
	@a = lquantize(0, 0, 4, 1, 1);
	@a = lquantize(1, 0, 4, 1, 7);
	@a = lquantize(2, 0, 4, 1, 90);
	@b = quantize(1, -4);
	@c = quantize(1, 0);
	@d = quantize(1, 3);
	@d = quantize(-1, -2);
	exit(0);
}
