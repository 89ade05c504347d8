/* ASSERTION: arg8 is D's own: a program cannot assign to it. */
BEGIN
{
	arg8 = 1;
	exit(0);
}
