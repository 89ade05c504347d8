/* ASSERTION: freopen() wants an argument for each conversion. */
BEGIN
{
	freopen("%d");
	exit(0);
}
