/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array is no scalar.
 */
BEGIN
{
	a[1] = 2;
	a = 3;
	exit(0);
}
