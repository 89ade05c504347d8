/* ASSERTION: id is D's own: a program cannot assign to it. */
BEGIN
{
	id = 1;
	exit(0);
}
