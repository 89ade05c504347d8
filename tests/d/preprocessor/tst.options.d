/*
 * ASSERTION: the options cpp, define, undef and incdir do what -C, -D, -U and -I do.
 * @@args: -x cpp -x define=A=5 -x define=B -x undef=B -x incdir=/usr/include -q
 */
#include <limits.h>
#ifdef B
#error B
#endif
BEGIN
{
	printf("%d %d\n", A, CHAR_BIT);
	exit(0);
}
