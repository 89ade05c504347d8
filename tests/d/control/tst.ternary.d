/*
 * ASSERTION: ?: evaluates one arm only, nests to the right, and mixes strings.
 */
#pragma D option quiet

int zero, one, two;

BEGIN
{
	printf("%d\n", zero ? 5 / zero : 7);
	zero ? one++ : two++;
	printf("%d %d\n", one, two);
	printf("%s\n", two == 0 ? "zero" : two == 1 ? "one" : "more");
	this->s = one ? probename : "else";
	printf("%s\n", this->s);
	exit(0);
}
