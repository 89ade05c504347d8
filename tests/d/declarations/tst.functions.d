/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Functions and pointers to them can be declared.
 */
#pragma D option quiet


extern int takes_nothing(void);
extern int *(*pointer)(void);
extern int **(**pointers)(void);
extern int old_style();
extern int takes_two(int, char *);
int (*in_d)(int, ...);
struct ops { int (*open)(void *); int (*list[2])(); };

BEGIN
{
	printf("%d %d\n", sizeof(struct ops), in_d == NULL);
	exit(0);
}
