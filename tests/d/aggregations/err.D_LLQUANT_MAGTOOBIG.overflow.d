/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: all magnitudes fit into 64 bits.
 */
BEGIN
{
	@a = llquantize(1, 10, 0, 20, 10);
}
