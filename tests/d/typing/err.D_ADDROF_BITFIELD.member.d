/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A bit-field has no address.
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
	trace(&p->bits);
	exit(0);
}
