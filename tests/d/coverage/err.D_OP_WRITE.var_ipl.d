/* ASSERTION: ipl is D's own: a program cannot assign to it. */
BEGIN
{
	ipl = 1;
	exit(0);
}
