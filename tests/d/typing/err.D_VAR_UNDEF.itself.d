/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A variable is not made of itself.
 */
BEGIN
{
	x = x + 1;
	exit(0);
}
