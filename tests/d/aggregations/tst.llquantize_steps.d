/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: llquantize divides each magnitude into its steps, takes low ones from the magnitude before, and ends open.
 */
#pragma D option quiet

BEGIN
{
	@ten = llquantize(0, 10, 0, 2, 20);
	@ten = llquantize(1, 10, 0, 2, 20);
	@ten = llquantize(9, 10, 0, 2, 20);
	@ten = llquantize(10, 10, 0, 2, 20);
	@ten = llquantize(14, 10, 0, 2, 20);
	@ten = llquantize(99, 10, 0, 2, 20);
	@ten = llquantize(100, 10, 0, 2, 20);
	@ten = llquantize(149, 10, 0, 2, 20);
	@ten = llquantize(150, 10, 0, 2, 20);
	@ten = llquantize(999, 10, 0, 2, 20);
	@ten = llquantize(1000, 10, 0, 2, 20);
	@two = llquantize(7, 2, 2, 4, 8);
	@two = llquantize(3, 2, 2, 4, 8);
	@two = llquantize(31, 2, 2, 4, 8);
	@low = llquantize(-1, 3, 1, 2, 3);
	@low = llquantize(2, 3, 1, 2, 3);
	exit(0);
}
