/* ASSERTION: execname is D's own: a program cannot assign to it. */
BEGIN
{
	execname = "text";
	exit(0);
}
