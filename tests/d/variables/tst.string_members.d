/*
 * ASSERTION: Members of type string take strings of any origin, and cut what is too long.
 */
#pragma D option quiet
#pragma D option strsize=8

struct pair { string a; string b; };
struct pair p;

BEGIN
{
	p.a = "abc";
	p.b = probename;
	printf("%s|%s|\n", p.a, p.b);
	p.a = "0123456789";
	printf("%s|%s|\n", p.a, p.b);
	p.b = p.a;
	p.a = substr(p.b, 5);
	printf("%s|%s|\n", p.a, p.b);
	exit(0);
}
