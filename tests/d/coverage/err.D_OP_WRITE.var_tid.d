/* ASSERTION: tid is D's own: a program cannot assign to it. */
BEGIN
{
	tid = 1;
	exit(0);
}
