/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Nothing can be had of what is only declared.
 */
struct never_defined *p;

BEGIN
{
	trace(p->a);
	exit(0);
}
