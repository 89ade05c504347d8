/*
 * ASSERTION: a subroutine below the minimum of -x amin is refused, on the line that calls it.
 * @@args: -x amin=stable/stable/common
 * @@stderr: dtrace: failed to compile script err.D_ATTR_MIN.subroutine.d: [D_ATTR_MIN] line 8: attributes for function htonl (Evolving/Evolving/Common) are less than predefined minimum
 */
BEGIN
{
	trace(htonl(1));
	exit(0);
}
