/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: What is only declared has no size.
 */
struct never_defined *p;

BEGIN
{
	trace(sizeof(*p));
	exit(0);
}
