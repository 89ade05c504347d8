/* ASSERTION: vcpu can not be assigned to. */
BEGIN
{
	vcpu = 0;
	exit(0);
}
