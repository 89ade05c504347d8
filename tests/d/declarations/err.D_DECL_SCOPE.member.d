/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A member belongs to no module.
 */
struct s { int a`b; };

BEGIN
{
	exit(0);
}
