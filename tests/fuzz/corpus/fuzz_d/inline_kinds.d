#pragma D option quiet

struct s { int x; };
translator struct s < int i > { x = i + 1; };
inline int constant = 100 + 23;
inline string name = probename;
inline int test = pid != 0;
inline struct s translated = xlate <struct s> (constant);
inline struct s *pointed = xlate <struct s *> (1);
inline int plus[int a, int b] = a + b;
inline int deep[int a] = xlate <struct s> (plus[a, a]).x;
inline string pick[int, string s] = s;

BEGIN
{
	printf("%d %s %d\n", constant, name, test);
	printf("%d %d\n", translated.x, pointed->x);
	printf("%d %d %s\n", plus[10, 20], deep[4], pick[1, "b"]);
	exit(0);
}
