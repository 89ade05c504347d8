/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A type that is only declared has no members.
 */
struct never_defined *p;

BEGIN
{
	trace(p->a);
	exit(0);
}
