/* ASSERTION: cleanpath() insists on the types of its arguments. */
BEGIN
{
	cleanpath(1);
	exit(0);
}
