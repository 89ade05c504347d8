/* ASSERTION: rindex() insists on the types of its arguments. */
BEGIN
{
	rindex("abc", "b", "c");
	exit(0);
}
