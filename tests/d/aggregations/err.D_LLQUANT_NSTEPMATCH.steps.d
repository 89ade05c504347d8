/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation keeps its number of steps.
 */
BEGIN
{
	@a = llquantize(1, 2, 0, 6, 4);
	@a = llquantize(1, 2, 0, 6, 8);
}
