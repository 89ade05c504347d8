/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A pointer to a function is shown with the function's result, by itself and as a member.
 */
#pragma D option quiet

typedef struct shape { int a; int (*g)(); char *(*named)(int, char); void (*none)(void); } shape_t;
this shape_t s;

BEGIN
{
	this->s.g = (int (*)())8;
	print(this->s);
	printf("\n");
	print(this->s.g);
	print(this->s.named);
	exit(0);
}
