/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Variables of every kind of type hold what is assigned to them.
 */
#pragma D option quiet


enum color { RED, GREEN = 5, BLUE };
struct bits { int low : 3; unsigned int mid : 5; int high : 12; };
union word { int i; char c[4]; short s; };
struct nest { int x; struct { int y; int z; } in; struct { int anon; }; int arr[3]; };
typedef struct nest nest_t;
typedef int count_t;
enum color col;
struct bits bits;
union word word;
nest_t nest;
nest_t copy;
int arr[5];
int matrix[2][3];
count_t n;
string names[int, string];
self int private;

BEGIN
{
	col = GREEN;
	printf("%d %d %d\n", col == GREEN, col == 5, BLUE);
	bits.low = 3;
	bits.low = bits.low + 1;
	bits.mid = 31;
	bits.high = -5;
	printf("%d %d %d\n", bits.low, bits.mid, bits.high);
	word.i = 0x41424344;
	printf("%c%c %x\n", word.c[0], word.c[3], word.s);
	arr[4] = 8;
	matrix[1][2] = 9;
	matrix[0][1] = 3;
	printf("%d %d %d %d\n", arr[4], matrix[1][2], matrix[0][1], sizeof(matrix));
	nest.in.z = 3;
	nest.anon = 4;
	nest.arr[2] = 5;
	copy = nest;
	nest.in.z = 0;
	printf("%d %d %d\n", copy.in.z, copy.anon, copy.arr[2]);
	names[1, "a"] = "one";
	n = 2;
	n++;
	self->private = n;
	printf("%s %d\n", names[1, "a"], self->private);
	exit(0);
}
