/* ASSERTION: ucaller is D's own: a program cannot assign to it. */
BEGIN
{
	ucaller = 1;
	exit(0);
}
