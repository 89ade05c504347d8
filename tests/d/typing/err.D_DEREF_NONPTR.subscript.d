/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A subscript needs an array.
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
	trace(x[1]);
	exit(0);
}
