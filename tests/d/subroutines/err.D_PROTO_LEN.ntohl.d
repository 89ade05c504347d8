/* ASSERTION: ntohl() insists on the number of its arguments. */
BEGIN
{
	ntohl();
	exit(0);
}
