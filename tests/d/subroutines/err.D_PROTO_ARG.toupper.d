/* ASSERTION: toupper() insists on the types of its arguments. */
BEGIN
{
	toupper(65);
	exit(0);
}
