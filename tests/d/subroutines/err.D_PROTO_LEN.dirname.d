/* ASSERTION: dirname() insists on the number of its arguments. */
BEGIN
{
	dirname("a", "b");
	exit(0);
}
