/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a low magnitude has 16 bits.
 */
BEGIN
{
	@a = llquantize(1, 2, 65536, 6, 2);
}
