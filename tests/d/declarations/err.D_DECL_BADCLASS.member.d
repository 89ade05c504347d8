/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A member has no storage class.
 */
struct s { self int x; };

BEGIN
{
	exit(0);
}
