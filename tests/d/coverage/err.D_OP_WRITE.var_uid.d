/* ASSERTION: uid is D's own: a program cannot assign to it. */
BEGIN
{
	uid = 1;
	exit(0);
}
