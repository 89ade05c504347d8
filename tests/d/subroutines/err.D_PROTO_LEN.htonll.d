/* ASSERTION: htonll() insists on the number of its arguments. */
BEGIN
{
	htonll(1, 2);
	exit(0);
}
