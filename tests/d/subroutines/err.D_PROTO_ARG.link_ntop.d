/* ASSERTION: link_ntop() insists on the types of its arguments. */
BEGIN
{
	link_ntop("ether", alloca(6));
	exit(0);
}
