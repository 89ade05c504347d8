/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: normalize() takes a defined aggregation.
 */
BEGIN
{
	normalize(@never, 5);
}
