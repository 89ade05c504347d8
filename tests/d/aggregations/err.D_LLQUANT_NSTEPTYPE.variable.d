/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: the number of steps is a constant.
 */
BEGIN
{
	x = 2;
	@a = llquantize(1, 2, 0, 6, x);
}
