/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: the number of steps has 16 bits.
 */
BEGIN
{
	@a = llquantize(1, 2, 0, 6, 65536);
}
