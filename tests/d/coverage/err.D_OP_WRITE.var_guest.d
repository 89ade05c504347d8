/* ASSERTION: guest is D's own: a program cannot assign to it. */
BEGIN
{
	guest = "text";
	exit(0);
}
