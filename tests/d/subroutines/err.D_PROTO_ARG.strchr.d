/* ASSERTION: strchr() insists on the types of its arguments. */
BEGIN
{
	strchr("abc", "b");
	exit(0);
}
