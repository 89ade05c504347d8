/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: at least one step fits.
 */
BEGIN
{
	@a = lquantize(1, 0, 10, 11);
}
