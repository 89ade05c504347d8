/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string may have as many bytes as strsize says, wherever it is kept: in variables of every kind, structs, keys
 * and records, and so may what subroutines take and make of it. Longer ones lose what is more.
 */
#pragma D option strsize=18
#pragma D option quiet

struct pair { string a; int n; string b; };
struct pair g;
this struct pair l;
string declared;
string arr[string];
self string own;
this string local;

BEGIN
{
	s17 = "abcdefghijklmnopq";
	s18 = "abcdefghijklmnopqr";
	s19 = "abcdefghijklmnopqrs";
	printf("|%s|%s|%s|\n", s17, s18, s19);
	printf("%d %d %d\n", strlen(s17), strlen(s18), strlen(s19));
	printf("%d %d %d\n", s17 == s18, s18 == s19, s18 == "abcdefghijklmnopqrXX");
	printf("|%18s|%-20s|%.3s|%S|\n", s18, s18, s18, s18);
}

BEGIN
{
	declared = s18;
	self->own = s18;
	this->local = s18;
	arr["k"] = s18;
	g.a = s18;
	g.n = 0x41424344;
	g.b = s19;
	this->l.a = "";
	this->l.b = g.a;
	printf("|%s|%s|%s|%s|\n", declared, self->own, this->local, arr["k"]);
	printf("|%s|%x|%s|%s|%s|\n", g.a, g.n, g.b, this->l.a, this->l.b);
	declared = s17;
	g.a = s17;
	printf("|%s|%s|%x|\n", declared, g.a, g.n);
}

BEGIN
{
	arr[s17] = "17";
	arr[s18] = "18";
	printf("%s %s %s\n", arr[s17], arr[s18], arr["abcdefghijklmnopqrXX"]);
	@[s17] = sum(17);
	@[s18] = sum(18);
	@[s19] = sum(1);
	printa("|%s| %@d\n", @);
	printa(@);
}

BEGIN
{
	printf("|%s|%s|%s|\n", substr(s18, 0), substr(s18, 17), substr(s18, -18, 18));
	printf("|%s|%s|\n", toupper(s18), tolower(s18));
	printf("|%s|%s|%s|\n", strchr(s18, 'r'), strrchr(s18, 'r'), strstr(s18, "pqr"));
	printf("%d %d\n", index(s18, "qr"), rindex(s18, "qr"));
	printf("|%s|%s|\n", strtok(s18, "-"), strtok("+bcdefghijklmnop+r", "+"));
	printf("|%s|%s|%s|\n", basename(s18), dirname("/bcdefg/ijklmnop/r"), basename("/bcdefghijklmnopqr"));
	printf("|%s|\n", json("{\"a\":false,\"b\":20}", "b"));
	printf("%d\n", strtoll("000000000000000042"));
	printf("|%s|\n", strjoin("abcdefgh", "ijklmnopq"));
	print(s18);
	print(g.b);
	trace(s18);
	printf("\n");
}

BEGIN
{
	printf("|%s|\n", strjoin("abcdefgh", "ijklmnopqr"));
}

ERROR
{
	printf("fault %d\n", arg4);
}

BEGIN
{
	exit(0);
}
