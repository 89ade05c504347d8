/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Each bit-field starts at a byte; values are cut to its width and keep their sign.
 */
#pragma D option quiet

struct two { int a : 1; int b : 3; } two;
struct three { int a : 12; int b : 10; unsigned int c : 3; } three;
struct shared { int a : 20; int b : 3; int c : 12; } shared;
struct mixed { char a : 2; int plain; long b : 33; } mixed;

BEGIN
{
	printf("%d %d %d %d\n", sizeof(two), sizeof(three), sizeof(shared), sizeof(mixed));
	two.a = 256;
	two.b = 3;
	three.c = 7;
	three.c++;
	printf("%d %d %d\n", two.a, two.b, three.c);
	shared.a = 0xfffff;
	shared.b = 2;
	shared.c = -7;
	printf("%d %d %d\n", shared.a, shared.b, shared.c);
	mixed.a = 1;
	mixed.plain = -1;
	mixed.b = 0x1ffffffff;
	printf("%d %d %d\n", mixed.a, mixed.plain, mixed.b);
	exit(0);
}
