/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A struct is defined before it is used by value.
 */
struct first_one { struct second_one x; };
struct second_one { int a; };

BEGIN
{
	exit(0);
}
