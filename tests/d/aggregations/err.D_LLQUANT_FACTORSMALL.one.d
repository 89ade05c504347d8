/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a factor of 1 gets nowhere.
 */
BEGIN
{
	@a = llquantize(1, 1, 0, 6, 2);
}
