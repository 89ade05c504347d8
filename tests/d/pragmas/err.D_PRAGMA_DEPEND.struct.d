/* ASSERTION: a program may depend on a struct of the kernel's, and there is none of that name. */
#pragma D depends_on struct nothing_of_this_name

BEGIN
{
	exit(0);
}
