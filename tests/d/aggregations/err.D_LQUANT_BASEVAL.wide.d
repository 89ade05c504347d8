/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a base has 32 bits.
 */
BEGIN
{
	@a = lquantize(1, -2147483649, 10);
}
