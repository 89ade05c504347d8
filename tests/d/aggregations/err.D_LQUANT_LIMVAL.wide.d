/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a limit has 32 bits.
 */
BEGIN
{
	@a = lquantize(1, 0, 0x80000000);
}
