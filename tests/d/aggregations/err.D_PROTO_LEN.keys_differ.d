/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation keeps the number of its keys.
 */
BEGIN
{
	@a[1] = count();
	@a[1, 2] = count();
}
