/* ASSERTION: probemod is D's own: a program cannot assign to it. */
BEGIN
{
	probemod = "text";
	exit(0);
}
