/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: increments count in quantize, lquantize and llquantize; they may be expressions, negative and large.
 */
#pragma D option quiet

BEGIN
{
	this->n = 7;
	@q = quantize(10, this->n);
	@q = quantize(10, this->n * 2);
	@q = quantize(-10, -3);
	@l = lquantize(3, 0, 6, 2, this->n);
	@l = lquantize(-1, 0, 6, 2, -this->n);
	@ll = llquantize(30, 10, 1, 2, 10, 1 << 40);
	@ll = llquantize(-30, 10, 1, 2, 10, (char)200);
	@none = quantize(4, 5);
	@none = quantize(4, -5);
	exit(0);
}
