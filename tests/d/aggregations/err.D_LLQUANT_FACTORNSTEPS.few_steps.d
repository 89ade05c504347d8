/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: there are as many steps as the factor at least.
 */
BEGIN
{
	@a = llquantize(1, 10, 0, 6, 5);
}
