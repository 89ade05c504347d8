/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a factor is a constant.
 */
BEGIN
{
	x = 2;
	@a = llquantize(1, x, 0, 6, 2);
}
