/* ASSERTION: copyinstr() insists on the number of its arguments. */
BEGIN
{
	copyinstr(1, 2, 3);
	exit(0);
}
