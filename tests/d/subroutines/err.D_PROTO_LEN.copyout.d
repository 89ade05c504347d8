/* ASSERTION: copyout() insists on the number of its arguments. */
BEGIN
{
	copyout("x", 1);
	exit(0);
}
