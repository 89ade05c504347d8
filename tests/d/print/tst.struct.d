/*
 * ASSERTION: print() shows a struct with a member on each line, nested ones indented by four, and
 * ends with its closing brace.
 */
#pragma D option quiet

enum colour { RED, GREEN = 5 };
struct point { int x; int y; };
typedef struct shape {
	struct point at;
	char kind;
	uint8_t layer;
	enum colour colour;
	char name[8];
	char code[2];
	uint8_t raw[3];
	struct point corner[2];
	void *owner;
	char *text;
	int (*area)(int, char *);
	string note;
	union { int whole; char part[4]; } u;
	struct { int hidden; };
} shape_t;

shape_t s;

BEGIN
{
	s.at.x = 1;
	s.at.y = -1;
	s.kind = 'k';
	s.layer = 65;
	s.colour = GREEN;
	s.name[0] = 'a';
	s.name[1] = 'b';
	s.code[0] = 4;
	s.raw[1] = 0x7f;
	s.corner[1].y = 16;
	s.owner = (void *)0x10;
	s.note = "a note";
	s.u.whole = 0x41;
	s.hidden = 3;
	print(s);
	printf("\n");
	print(s.at);
	printf("\n");
	print(s.name);
	print(s.corner);
	print(s.area);
	print(s.colour);
	exit(0);
}
