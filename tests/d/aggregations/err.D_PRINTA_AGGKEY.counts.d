/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: aggregations that are printed together have as many keys.
 */
BEGIN
{
	@a[1] = count();
	@b[1, 2] = count();
	printa(@a, @b);
}
