/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A struct must have members; this is checked before its name.
 */
struct module`tag { };

BEGIN
{
	exit(0);
}
