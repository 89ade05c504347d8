/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: how much to keep is a number.
 */
BEGIN
{
	@a = count();
	trunc(@a, "x");
}
