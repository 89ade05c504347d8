/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a high magnitude is a constant.
 */
BEGIN
{
	x = 6;
	@a = llquantize(1, 2, 0, x, 2);
}
