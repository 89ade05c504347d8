/* ASSERTION: arg2 is D's own: a program cannot assign to it. */
BEGIN
{
	arg2 = 1;
	exit(0);
}
