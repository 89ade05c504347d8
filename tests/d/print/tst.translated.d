/*
 * ASSERTION: print() and trace() take a translated struct, whose members are all that its
 * translator defines and zero elsewhere.
 */
#pragma D option quiet

struct pair { int left; long right; };
typedef struct dish {
	int size;
	string name;
	struct pair sides;
	int hot:3;
	uint8_t kind;
	uint16_t left_out;
} dish_t;

struct pair p;

translator dish_t < void *v > {
	size = 2 * 10;
	name = strjoin("pan", "cakes");
	sides = p;
	hot = 1;
	kind = 0x123456;
};

typedef struct byte { uint8_t v; } byte_t;

translator byte_t < int i > {
	v = i;
};

BEGIN
{
	p.left = 7;
	p.right = -1;
	print(*(xlate <dish_t *> ((void *)NULL)));
	printf("\n");
	print(xlate <byte_t> (0x1ff));
	printf("\n");
	trace(xlate <byte_t> (65));
	exit(0);
}
