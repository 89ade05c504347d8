/* ASSERTION: vcpu is D's own: a program cannot assign to it. */
BEGIN
{
	vcpu = 1;
	exit(0);
}
