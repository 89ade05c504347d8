/* ASSERTION: arg0 is D's own: a program cannot assign to it. */
BEGIN
{
	arg0 = 1;
	exit(0);
}
