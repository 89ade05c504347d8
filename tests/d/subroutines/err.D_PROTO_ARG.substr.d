/* ASSERTION: substr() insists on the types of its arguments. */
BEGIN
{
	substr("abc", "b");
	exit(0);
}
