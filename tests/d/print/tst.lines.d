/*
 * ASSERTION: outside quiet mode print() follows the record's prefix, and the record still ends its line.
 */
struct point { int x; };
struct point p;

BEGIN
{
	print(1);
}

BEGIN
{
	print(p);
	exit(0);
}
