/* ASSERTION: arg7 is D's own: a program cannot assign to it. */
BEGIN
{
	arg7 = 1;
	exit(0);
}
