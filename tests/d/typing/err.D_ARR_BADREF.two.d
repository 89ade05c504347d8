/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A C array has one subscript.
 */
int a[3];

BEGIN
{
	trace(a[1, 2]);
	exit(0);
}
