/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation by itself is no statement.
 */
BEGIN
{
	@a = count();
	@a;
}
