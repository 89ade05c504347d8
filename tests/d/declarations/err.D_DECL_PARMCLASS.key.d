/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A key has no storage class.
 */
int a[self int x];

BEGIN
{
	exit(0);
}
