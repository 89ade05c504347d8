/*
 * ASSERTION: sym() func() mod() usym() ufunc() umod() uaddr() show an address that has no name as a
 * number, in a column of 50.
 */
#pragma D option quiet

BEGIN
{
	sym(1);
	func(2);
	mod(3);
	printf("|\n");
	usym(4);
	ufunc(5);
	umod(6);
	uaddr(7);
	printf("|\n");
	exit(0);
}
