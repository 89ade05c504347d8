/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The width of a bit-field is positive.
 */
struct s { int a : -5; };

BEGIN
{
	exit(0);
}
