/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An array that is a member is not assigned.
 */
struct s { int a; int bits : 3; int list[2]; };
struct s v;
struct s w;
struct s *p;
int *ip;
char *cp;
int x;
int (*f)(int);

BEGIN
{
	v.list = w.list;
	exit(0);
}
