/*
 * ASSERTION: print() shows a bit-field with its width, also where its type reaches behind the
 * struct; one that is just a byte shows as an integer.
 */
#pragma D option quiet

struct flags { int a:4; int b:3; unsigned int c:20; long d:30; int e:8; };
struct tail { char c; uint32_t x:3; };

struct flags f;
struct tail t;

BEGIN
{
	f.a = -1;
	f.b = 2;
	f.c = 0x12345;
	f.d = 5;
	t.x = 6;
	print(f);
	printf("\n");
	print(t);
	printf("\n");
	print(f.a);
	exit(0);
}
