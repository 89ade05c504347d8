/* ASSERTION: execargs is D's own: a program cannot assign to it. */
BEGIN
{
	execargs = "text";
	exit(0);
}
