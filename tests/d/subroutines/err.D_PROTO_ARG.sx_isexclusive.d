/* ASSERTION: sx_isexclusive() insists on the types of its arguments. */
BEGIN
{
	sx_isexclusive(1);
	exit(0);
}
