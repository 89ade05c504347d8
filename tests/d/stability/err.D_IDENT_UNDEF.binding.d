/*
 * ASSERTION: a pragma binds a name to a version; in an earlier version it is undefined.
 * @@args: -x version=1.4
 */
#pragma D binding "1.5" later
inline int later = 1;

BEGIN
{
	exit(later);
}
