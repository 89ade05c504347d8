/* ASSERTION: inet_ntoa6() insists on the number of its arguments. */
BEGIN
{
	inet_ntoa6();
	exit(0);
}
