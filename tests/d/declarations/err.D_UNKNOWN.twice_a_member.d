/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A struct has one member of a name.
 */
struct r { int a; int a; };

BEGIN
{
	exit(0);
}
