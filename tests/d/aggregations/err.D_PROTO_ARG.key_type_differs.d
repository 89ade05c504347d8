/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation keeps the types of its keys.
 */
BEGIN
{
	@a[1] = count();
	@a["x"] = count();
}
