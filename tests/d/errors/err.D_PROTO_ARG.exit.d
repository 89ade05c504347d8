/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: exit() takes an integer.
 */
BEGIN
{
	exit("x");
}
