/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An associative array is no parameter.
 */
int f(int a[int]);

BEGIN
{
	exit(0);
}
