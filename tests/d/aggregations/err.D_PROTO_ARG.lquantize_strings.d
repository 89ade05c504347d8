/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The types of lquantize()'s parameters are looked at before what is aggregated.
 */
BEGIN
{
	@a[pid] = lquantize(probefunc, probefunc, probefunc, probefunc);
}
