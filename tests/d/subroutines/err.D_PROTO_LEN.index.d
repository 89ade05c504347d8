/* ASSERTION: index() insists on the number of its arguments. */
BEGIN
{
	index("abc", "b", 1, 2);
	exit(0);
}
