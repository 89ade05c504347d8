/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A translated pointer is no operand of a comma.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < int n > { i = n; };

BEGIN
{
	trace((xlate <struct out *> (1), 1));
	exit(0);
}
