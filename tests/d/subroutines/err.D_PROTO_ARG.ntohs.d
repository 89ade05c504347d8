/* ASSERTION: ntohs() insists on the types of its arguments. */
BEGIN
{
	ntohs("x");
	exit(0);
}
