/* ASSERTION: htonl() insists on the types of its arguments. */
BEGIN
{
	htonl("x");
	exit(0);
}
