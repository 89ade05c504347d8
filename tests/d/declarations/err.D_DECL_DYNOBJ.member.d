/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An associative array cannot be a member.
 */
struct s { int a[int]; };

BEGIN
{
	exit(0);
}
