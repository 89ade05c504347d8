/* ASSERTION: errprov is D's own: a program cannot assign to it. */
BEGIN
{
	errprov = "text";
	exit(0);
}
