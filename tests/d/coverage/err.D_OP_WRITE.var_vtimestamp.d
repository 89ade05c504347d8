/* ASSERTION: vtimestamp is D's own: a program cannot assign to it. */
BEGIN
{
	vtimestamp = 1;
	exit(0);
}
