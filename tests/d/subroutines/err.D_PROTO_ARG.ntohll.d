/* ASSERTION: ntohll() insists on the types of its arguments. */
BEGIN
{
	ntohll("x");
	exit(0);
}
