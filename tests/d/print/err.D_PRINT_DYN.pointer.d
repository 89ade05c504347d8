/* ASSERTION: print() does not take a translated pointer. */
struct s { int a; };
translator struct s < int i > { a = i; };
BEGIN
{
	print(xlate <struct s *> (1));
}
