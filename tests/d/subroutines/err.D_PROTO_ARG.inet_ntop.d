/* ASSERTION: inet_ntop() insists on the types of its arguments. */
BEGIN
{
	inet_ntop("inet", alloca(4));
	exit(0);
}
