/*
 * ASSERTION: an inline has attributes of its own; what it stands for does not count.
 * @@args: -e -v
 */
inline int swapped = htonl(1);

BEGIN
{
	trace(swapped);
	exit(0);
}
