/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a step is above 0.
 */
BEGIN
{
	@a = lquantize(1, 0, 10, 0);
}
