/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: quantize() takes a value and an increment.
 */
BEGIN
{
	@a = quantize(1, 2, 3);
}
