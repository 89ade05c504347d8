/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array has as many keys as its signature.
 */
int a[int, int];

BEGIN
{
	a[1] = 2;
	exit(0);
}
