/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline array has a signature, not a size.
 */
int a[3];
inline int i[3] = a;

BEGIN
{
	exit(0);
}
