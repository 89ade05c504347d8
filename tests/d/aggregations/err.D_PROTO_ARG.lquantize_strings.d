/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The types of lquantize()'s parameters are checked before the aggregated value.
 */
BEGIN
{
	@a[pid] = lquantize(probefunc, probefunc, probefunc, probefunc);
}
