/* ASSERTION: arg1 is D's own: a program cannot assign to it. */
BEGIN
{
	arg1 = 1;
	exit(0);
}
