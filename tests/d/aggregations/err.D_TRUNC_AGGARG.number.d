/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: trunc() takes an aggregation.
 */
BEGIN
{
	@a = count();
	trunc(5);
}
