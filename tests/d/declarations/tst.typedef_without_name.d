/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A typedef that names no type still declares its struct, union or enum.
 */
#pragma D option quiet

typedef struct version { string code; int n; };
typedef union both { int i; char c; };
typedef enum colour { RED = 3, BLUE };
struct version v;
union both b;

BEGIN
{
	v.code = "x1";
	v.n = BLUE;
	b.i = 0x41;
	printf("%s %d %c\n", v.code, v.n, b.c);
	exit(0);
}
