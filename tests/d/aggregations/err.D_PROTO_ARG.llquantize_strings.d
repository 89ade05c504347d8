/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: All types of llquantize()'s parameters are checked before any of their values.
 */
BEGIN
{
	@a[pid] = llquantize(probefunc, 1, 0, 6, "steps");
}
