/* ASSERTION: errmod is D's own: a program cannot assign to it. */
BEGIN
{
	errmod = "text";
	exit(0);
}
