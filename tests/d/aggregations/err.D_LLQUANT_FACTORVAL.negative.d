/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a factor has no sign.
 */
BEGIN
{
	@a = llquantize(1, -2, 0, 6, 2);
}
