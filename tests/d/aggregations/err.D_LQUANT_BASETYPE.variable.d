/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a base is a constant.
 */
BEGIN
{
	x = 0;
	@a = lquantize(1, x, 10);
}
