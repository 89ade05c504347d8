/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: *= takes numbers.
 */
BEGIN
{
	x = 1;
	x *= "a";
	exit(0);
}
