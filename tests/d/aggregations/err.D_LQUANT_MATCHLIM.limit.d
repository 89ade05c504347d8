/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation keeps its limit, which is compared before the step.
 */
BEGIN
{
	@a = lquantize(1, 0, 10, 1);
	@a = lquantize(1, 0, 20, 2);
}
