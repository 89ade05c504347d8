/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: the low magnitude is below the high one.
 */
BEGIN
{
	@a = llquantize(1, 2, 6, 6, 2);
}
