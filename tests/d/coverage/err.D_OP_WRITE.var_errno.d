/* ASSERTION: errno is D's own: a program cannot assign to it. */
BEGIN
{
	errno = 1;
	exit(0);
}
