/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: quantize: powers of two, one empty row on each side, bars by share of the sum.
 */
#pragma D option quiet

BEGIN
{
	@ = quantize(1);
	@ = quantize(2);
	@ = quantize(3);
	@ = quantize(3);
	@ = quantize(5);
	@ = quantize(8);
	@ = quantize(9);
	@ = quantize(15);
	exit(0);
}
