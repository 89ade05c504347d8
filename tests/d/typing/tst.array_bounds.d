/*
 * ASSERTION: An index that is known only when the clause fires is compared too: outside the array there is an
 * invalid address, and the variable that lies behind the array keeps its value. In a struct and in alloca()ed
 * memory an array of one element may have more.
 */
#pragma D option quiet

struct box {
	int n;
	short v[4];
	char rest[1];
};

int slots[5];
int behind;
struct box b;

BEGIN
{
	behind = 77;
	i = 4;
	slots[i] = 30;
	slots[i - 1] = 20;
	slots[i]++;
	printf("%d %d %d\n", slots[3], slots[4], slots[0]);
	b.v[i - 4] = 5;
	p = (struct box *)alloca(64);
	p->rest[i] = 'r';
	p->v[i - 1] = 6;
	printf("%d %d %c %d\n", b.v[0], p->v[3], p->rest[4], p->v[0]);
}

BEGIN
{
	i = 8;
	slots[i] = 1;
	printf("stored outside\n");
}

BEGIN
{
	i = -1;
	trace(slots[i]);
	printf("loaded outside\n");
}

BEGIN
{
	i = 4;
	b.v[i] = 1;
	printf("stored outside of a member\n");
}

BEGIN
{
	printf("%d %d\n", behind, slots[4]);
	exit(0);
}

ERROR
{
	printf("fault %d at %x\n", arg4, arg5);
}
