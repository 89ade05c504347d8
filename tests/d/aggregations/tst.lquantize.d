/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: lquantize: linear rows between underflow and overflow.
 */
#pragma D option quiet

BEGIN
{
	@ = lquantize(-5, 0, 30, 10);
	@ = lquantize(0, 0, 30, 10);
	@ = lquantize(9, 0, 30, 10);
	@ = lquantize(10, 0, 30, 10);
	@ = lquantize(25, 0, 30, 10);
	@ = lquantize(30, 0, 30, 10);
	@ = lquantize(99, 0, 30, 10);
	@ = lquantize(99, 0, 30, 10);
	exit(0);
}
