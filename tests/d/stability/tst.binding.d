/*
 * ASSERTION: a name bound to a version is there in it and after it.
 * @@args: -q -x version=1.5
 */
#pragma D binding "1.5" later
#pragma D binding "1.2.1" sooner
inline int later = 1;
inline int sooner = 2;

BEGIN
{
	printf("%d %d\n", later, sooner);
	exit(0);
}
