/* ASSERTION: gid is D's own: a program cannot assign to it. */
BEGIN
{
	gid = 1;
	exit(0);
}
