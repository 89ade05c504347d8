/* ASSERTION: strlen() insists on the types of its arguments. */
BEGIN
{
	strlen(1);
	exit(0);
}
