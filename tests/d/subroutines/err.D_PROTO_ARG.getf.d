/* ASSERTION: getf() insists on the types of its arguments. */
BEGIN
{
	getf("0");
	exit(0);
}
