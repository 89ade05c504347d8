/* ASSERTION: guestid is D's own: a program cannot assign to it. */
BEGIN
{
	guestid = 1;
	exit(0);
}
