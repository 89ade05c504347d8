/*
 * ASSERTION: an inline has attributes of its own; those of its expression are ignored.
 * @@args: -e -v
 */
inline int swapped = htonl(1);

BEGIN
{
	trace(swapped);
	exit(0);
}
