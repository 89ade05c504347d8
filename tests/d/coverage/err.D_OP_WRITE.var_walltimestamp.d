/* ASSERTION: walltimestamp is D's own: a program cannot assign to it. */
BEGIN
{
	walltimestamp = 1;
	exit(0);
}
