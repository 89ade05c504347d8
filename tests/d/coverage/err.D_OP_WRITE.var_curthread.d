/* ASSERTION: curthread is D's own: a program cannot assign to it. */
BEGIN
{
	curthread = NULL;
	exit(0);
}
