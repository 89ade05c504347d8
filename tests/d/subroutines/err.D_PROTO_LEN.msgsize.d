/* ASSERTION: msgsize() insists on the number of its arguments. */
BEGIN
{
	msgsize();
	exit(0);
}
