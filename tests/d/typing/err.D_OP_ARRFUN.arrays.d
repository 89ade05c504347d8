/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array is not assigned.
 */
int a[2];
int b[2];

BEGIN
{
	a = b;
	exit(0);
}
