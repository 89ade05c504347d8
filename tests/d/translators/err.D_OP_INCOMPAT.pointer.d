/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A translated pointer cannot be assigned.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < int n > { i = n; };

BEGIN
{
	x = xlate <struct out *> (1);
	exit(0);
}
