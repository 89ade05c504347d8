/* ASSERTION: panic() takes nothing. */
BEGIN
{
	panic("now");
	exit(0);
}
