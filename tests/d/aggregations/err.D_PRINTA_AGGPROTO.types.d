/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: aggregations that are printed together have keys of the same types.
 */
BEGIN
{
	@a[1] = count();
	@b["x"] = count();
	printa(@a, @b);
}
