/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array has a bounded size.
 */
int a[123456789012345];

BEGIN
{
	exit(0);
}
