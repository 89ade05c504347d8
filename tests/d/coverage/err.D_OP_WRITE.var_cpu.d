/* ASSERTION: cpu is D's own: a program cannot assign to it. */
BEGIN
{
	cpu = 1;
	exit(0);
}
