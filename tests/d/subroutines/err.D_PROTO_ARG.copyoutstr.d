/* ASSERTION: copyoutstr() insists on the types of its arguments. */
BEGIN
{
	copyoutstr(1, 2, 3);
	exit(0);
}
