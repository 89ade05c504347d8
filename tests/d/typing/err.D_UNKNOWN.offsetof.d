/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: offsetof knows the members.
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
	trace(offsetof(struct s, nothing));
	exit(0);
}
