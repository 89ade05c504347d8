/*
 * ASSERTION: A struct of 1, 2, 4 or 8 bytes shows as an integer of that size.
 */
struct one { uint8_t a; };
struct two { uint8_t a; uint8_t b; };
struct four { short a; short b; };
struct eight { int a; int b; };

struct one one;
struct two two;
struct four four;
struct eight eight;

BEGIN
{
	one.a = 1;
	two.b = 1;
	four.b = -1;
	eight.b = 1;
	trace(one);
	trace(two);
	trace(four);
	trace(eight);
	exit(0);
}
