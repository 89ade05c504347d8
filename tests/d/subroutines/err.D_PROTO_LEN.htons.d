/* ASSERTION: htons() insists on the number of its arguments. */
BEGIN
{
	htons();
	exit(0);
}
