/* ASSERTION: msgdsize() insists on the types of its arguments. */
BEGIN
{
	msgdsize(7);
	exit(0);
}
