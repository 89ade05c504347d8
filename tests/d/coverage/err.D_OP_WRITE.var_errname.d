/* ASSERTION: errname is D's own: a program cannot assign to it. */
BEGIN
{
	errname = "text";
	exit(0);
}
