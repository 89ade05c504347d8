/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array is assigned to before it is read.
 */
BEGIN
{
	trace(a[1]);
	exit(0);
}
