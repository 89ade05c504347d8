/* ASSERTION: caller is D's own: a program cannot assign to it. */
BEGIN
{
	caller = 1;
	exit(0);
}
