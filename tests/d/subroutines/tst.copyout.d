/* ASSERTION: copyout() and copyoutstr() fault where nothing may be written. */
#pragma D option quiet
#pragma D option destructive

BEGIN
{
	this->p = alloca(8);
	copyout(this->p, 16, 0);
	copyout(this->p, 16, 4);
}

BEGIN
{
	copyoutstr("text", 16, 4);
}

BEGIN
{
	copyout((void *)3, 0, 5);
}

ERROR
{
	printf("%d %d\n", arg4, arg5);
}

BEGIN
{
	exit(0);
}
