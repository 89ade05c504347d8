/* ASSERTION: arg3 is D's own: a program cannot assign to it. */
BEGIN
{
	arg3 = 1;
	exit(0);
}
