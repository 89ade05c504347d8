/* ASSERTION: zonename is D's own: a program cannot assign to it. */
BEGIN
{
	zonename = "text";
	exit(0);
}
