/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation's value is an integer, no string.
 */
BEGIN
{
	@a = count();
	printa("%@s\n", @a);
}
