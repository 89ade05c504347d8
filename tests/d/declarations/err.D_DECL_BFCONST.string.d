/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The width of a bit-field is an integer.
 */
struct s { int a : "x"; };

BEGIN
{
	exit(0);
}
