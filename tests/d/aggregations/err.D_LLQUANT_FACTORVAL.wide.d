/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a factor has 16 bits.
 */
BEGIN
{
	@a = llquantize(1, 65536, 0, 6, 2);
}
