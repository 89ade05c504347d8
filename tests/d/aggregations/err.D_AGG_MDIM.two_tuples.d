/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation has one list of keys.
 */
BEGIN
{
	@a[1][2] = count();
}
