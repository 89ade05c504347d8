/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Without a semicolon two structs are one type.
 */
struct r { int a; }
struct q { int a; };

BEGIN
{
	exit(0);
}
