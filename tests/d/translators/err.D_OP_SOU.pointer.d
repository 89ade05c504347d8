/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: . needs a translated struct, not a translated pointer.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < int n > { i = n; };

BEGIN
{
	trace(xlate <struct out *> (1).i);
	exit(0);
}
