/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a limit is a constant.
 */
BEGIN
{
	x = 9;
	@a = lquantize(1, 0, x);
}
