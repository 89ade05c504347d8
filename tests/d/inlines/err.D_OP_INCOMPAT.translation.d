/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline translation has the type of the translation.
 */
struct s { int x; };
struct t { int x; };
translator struct s < int i > { x = i; };
inline struct t i = xlate <struct s> (1);

BEGIN
{
	exit(0);
}
