/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A translator defines members of its output only.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < struct in *p > { other = p->i; };

BEGIN
{
	exit(0);
}
