/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: clear() takes an aggregation.
 */
BEGIN
{
	@a = count();
	clear(5);
}
