/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: sum() takes a scalar.
 */
BEGIN
{
	@a = sum("x");
}
