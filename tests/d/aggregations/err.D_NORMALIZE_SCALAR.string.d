/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a divisor is a scalar.
 */
BEGIN
{
	@a = count();
	normalize(@a, "x");
}
