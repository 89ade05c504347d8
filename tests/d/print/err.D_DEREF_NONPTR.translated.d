/* ASSERTION: A translated struct, which is no pointer, cannot be dereferenced. */
struct s { int a; };
translator struct s < int i > { a = i; };
BEGIN
{
	print(*(xlate <struct s> (1)));
}
