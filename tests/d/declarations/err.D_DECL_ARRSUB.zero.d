/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array has at least one element.
 */
int a[0];

BEGIN
{
	exit(0);
}
