/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The struct has no such member.
 */
struct s {
	int a;
};
struct s v;

BEGIN
{
	trace(v.b);
}
