/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: the number of steps divides a power of the factor.
 */
BEGIN
{
	@a = llquantize(1, 10, 0, 6, 30);
}
