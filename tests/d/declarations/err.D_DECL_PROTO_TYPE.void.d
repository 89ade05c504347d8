/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A key has a value.
 */
int a[void];

BEGIN
{
	exit(0);
}
