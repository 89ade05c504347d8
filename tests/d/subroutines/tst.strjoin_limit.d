/* ASSERTION: strjoin() takes all that fits strsize with its NUL; one byte more is out of scratch space. */
#pragma D option quiet
#pragma D option strsize=8

BEGIN
{
	printf("%s [%s]\n", strjoin("abcd", "efg"), strjoin("", ""));
}

BEGIN
{
	strjoin("abcd", "efgh");
}

ERROR
{
	printf("%d\n", arg4 == DTRACEFLT_NOSCRATCH);
	exit(0);
}
