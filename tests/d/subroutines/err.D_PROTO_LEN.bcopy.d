/* ASSERTION: bcopy() insists on the number of its arguments. */
BEGIN
{
	bcopy("a", "b");
	exit(0);
}
