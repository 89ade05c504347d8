/* ASSERTION: inet_ntoa() insists on the types of its arguments. */
BEGIN
{
	inet_ntoa("1.2.3.4");
	exit(0);
}
