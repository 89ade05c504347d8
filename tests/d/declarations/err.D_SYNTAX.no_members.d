/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A struct has members; that is said before its name is looked at.
 */
struct module`tag { };

BEGIN
{
	exit(0);
}
