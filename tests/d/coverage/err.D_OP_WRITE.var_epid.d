/* ASSERTION: epid is D's own: a program cannot assign to it. */
BEGIN
{
	epid = 1;
	exit(0);
}
