/* ASSERTION: probefunc is D's own: a program cannot assign to it. */
BEGIN
{
	probefunc = "text";
	exit(0);
}
