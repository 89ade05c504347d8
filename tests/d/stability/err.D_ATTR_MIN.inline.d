/* ASSERTION: a pragma makes an inline less stable than the minimum. */
#pragma D option amin=Stable/Stable/Common
#pragma D attributes Evolving/Stable/Common one
inline int one = 1;

BEGIN
{
	exit(one);
}
