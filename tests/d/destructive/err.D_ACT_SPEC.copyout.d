/* ASSERTION: A destructive subroutine may not be speculative. */
BEGIN
{
	speculate(1);
	copyout("x", 0, 1);
	exit(0);
}
