/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A member that the struct does not have.
 */
struct s {
	int a;
};
struct s v;

BEGIN
{
	trace(v.b);
}
