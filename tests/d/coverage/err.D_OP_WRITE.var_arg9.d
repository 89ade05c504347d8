/* ASSERTION: arg9 is D's own: a program cannot assign to it. */
BEGIN
{
	arg9 = 1;
	exit(0);
}
