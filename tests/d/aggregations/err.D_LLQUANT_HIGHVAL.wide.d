/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a high magnitude has 16 bits.
 */
BEGIN
{
	@a = llquantize(1, 2, 0, 65536, 2);
}
