/* ASSERTION: what curthread points to is Private, which is less than the minimum asked for. */
#pragma D option amin=Evolving/Evolving/Common

BEGIN
{
	trace(curthread);
	exit(0);
}
