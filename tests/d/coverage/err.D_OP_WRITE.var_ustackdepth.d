/* ASSERTION: ustackdepth is D's own: a program cannot assign to it. */
BEGIN
{
	ustackdepth = 1;
	exit(0);
}
