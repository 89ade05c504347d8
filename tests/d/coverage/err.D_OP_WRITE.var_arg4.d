/* ASSERTION: arg4 is D's own: a program cannot assign to it. */
BEGIN
{
	arg4 = 1;
	exit(0);
}
