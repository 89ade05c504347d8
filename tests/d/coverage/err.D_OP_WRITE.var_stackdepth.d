/* ASSERTION: stackdepth is D's own: a program cannot assign to it. */
BEGIN
{
	stackdepth = 1;
	exit(0);
}
