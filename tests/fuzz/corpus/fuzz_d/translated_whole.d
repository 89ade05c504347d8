#pragma D option quiet

struct from { int a; char c; };
struct inner { int deep; };
struct to { int a; char left_out; string s; char text[6]; int b : 3; struct inner in; };
translator struct inner < int i > { deep = i + 1; };
translator struct to < struct from f > {
	a = f.a;
	s = "a string";
	text = "text";
	b = f.c;
	in = xlate <struct inner> (f.a);
};
struct to whole;
struct from f;

BEGIN
{
	f.a = 100;
	f.c = 'z';
	whole.left_out = 7;
	whole = xlate <struct to> (f);
	printf("%d %d [%s] [%s] %d %d\n", whole.a, whole.left_out, whole.s, stringof(whole.text), whole.b,
	    whole.in.deep);
	this->other = xlate <struct to> (f);
	printf("%d [%s]\n", this->other.a, this->other.s);
	exit(0);
}
