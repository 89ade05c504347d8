/* ASSERTION: arg6 is D's own: a program cannot assign to it. */
BEGIN
{
	arg6 = 1;
	exit(0);
}
