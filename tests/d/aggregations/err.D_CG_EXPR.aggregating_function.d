/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregating function is no statement.
 */
BEGIN
{
	sum(1);
}
