/* ASSERTION: probename is D's own: a program cannot assign to it. */
BEGIN
{
	probename = "text";
	exit(0);
}
