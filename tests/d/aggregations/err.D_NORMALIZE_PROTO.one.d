/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: normalize() takes a divisor.
 */
BEGIN
{
	@a = count();
	normalize(@a);
}
