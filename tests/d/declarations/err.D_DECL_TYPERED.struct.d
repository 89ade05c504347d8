/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A struct is defined once.
 */
struct s { int a; };
struct s { int a; };

BEGIN
{
	exit(0);
}
