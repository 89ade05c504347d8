/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation with keys but no function is no statement, defined or not.
 */
BEGIN
{
	@a[pid];
}
