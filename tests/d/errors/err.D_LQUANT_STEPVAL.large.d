/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The step of lquantize has 16 bits.
 */
BEGIN
{
	@ = lquantize(1, 0, 1000000, 100000);
}
