/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A member has a name.
 */
struct s { int; };

BEGIN
{
	exit(0);
}
