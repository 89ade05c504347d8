/*
 * ASSERTION: trace() shows integers by their size alone, in 3, 5, 8 and 16 columns, chars and shorts
 * without a sign, and structs and arrays as bytes or text.
 */
struct pair { int a; char b; };
struct small { short s; };
enum colour { RED = -1 };

struct pair p;
struct small q;
char text[5];
char full[3];
int numbers[3];

BEGIN
{
	p.a = 1;
	q.s = -1;
	text[0] = 'a';
	text[1] = 'b';
	full[0] = full[1] = full[2] = 'x';
	trace((char)-1);
	trace((uint8_t)255);
	trace((short)-1);
	trace(-1);
	trace((unsigned int)-1);
	trace(-1LL);
	trace((uint64_t)-1);
	trace((void *)16);
	trace(RED);
	trace("text");
}

BEGIN
{
	trace(q);
	trace(text);
	trace(full);
	trace(p);
	trace(numbers);
	exit(0);
}
