/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: normalize() takes an aggregation.
 */
BEGIN
{
	@a = count();
	normalize(5, 5);
}
