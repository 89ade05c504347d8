/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Structs of the same shape are different types.
 */
struct a { int x; };
struct b { int x; };
struct a p;
struct b q;

BEGIN
{
	p = q;
	exit(0);
}
