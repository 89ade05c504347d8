/* ASSERTION: breakpoint() takes nothing. */
BEGIN
{
	breakpoint(0);
	exit(0);
}
