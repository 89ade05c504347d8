/* ASSERTION: basename() insists on the types of its arguments. */
BEGIN
{
	basename(1);
	exit(0);
}
