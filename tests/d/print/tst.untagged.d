/*
 * ASSERTION: print() shows a struct, union or enum without a tag with a blank in its place.
 */
#pragma D option quiet

struct { int a; } plain;

struct holder {
	struct { int b; } list[2];
	struct { int c; } *to;
	union { int d; char e[2]; };
	enum { FIRST, SECOND } which;
};

struct holder holder;

BEGIN
{
	holder.which = SECOND;
	print(plain);
	printf("\n");
	print(holder);
	exit(0);
}
