/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation keeps its function.
 */
BEGIN
{
	@a = min(1);
	@a = max(1);
}
