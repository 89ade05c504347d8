/* ASSERTION: ftruncate() takes nothing. */
BEGIN
{
	ftruncate(1);
	exit(0);
}
