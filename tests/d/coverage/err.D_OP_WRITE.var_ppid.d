/* ASSERTION: ppid is D's own: a program cannot assign to it. */
BEGIN
{
	ppid = 1;
	exit(0);
}
