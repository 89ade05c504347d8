/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation keeps its base.
 */
BEGIN
{
	@a = lquantize(1, 0, 10);
	@a = lquantize(1, -1, 10);
}
