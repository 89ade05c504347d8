/* ASSERTION: getminor() insists on the number of its arguments. */
BEGIN
{
	getminor(1, 2);
	exit(0);
}
