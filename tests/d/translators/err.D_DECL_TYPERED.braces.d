/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Braces around the input make a second definition of the output.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out { struct in *p } { i = p->i; }

BEGIN
{
	exit(0);
}
