/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The keys of an array are counted.
 */
int a[int, ...];

BEGIN
{
	exit(0);
}
