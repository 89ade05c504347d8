/* ASSERTION: pid is D's own: a program cannot assign to it. */
BEGIN
{
	pid = 1;
	exit(0);
}
