/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a low magnitude is a constant.
 */
BEGIN
{
	x = 0;
	@a = llquantize(1, 2, x, 6, 2);
}
