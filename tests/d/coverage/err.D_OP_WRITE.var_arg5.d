/* ASSERTION: arg5 is D's own: a program cannot assign to it. */
BEGIN
{
	arg5 = 1;
	exit(0);
}
