/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array takes values of its type.
 */
int a[int];

BEGIN
{
	a[1] = "x";
	exit(0);
}
