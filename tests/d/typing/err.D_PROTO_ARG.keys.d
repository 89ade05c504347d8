/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A key has the type that the signature says.
 */
int a[int, string];

BEGIN
{
	a[1, 2] = 3;
	exit(0);
}
