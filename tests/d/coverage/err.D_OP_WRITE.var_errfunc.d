/* ASSERTION: errfunc is D's own: a program cannot assign to it. */
BEGIN
{
	errfunc = "text";
	exit(0);
}
