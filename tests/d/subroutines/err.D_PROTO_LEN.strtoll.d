/* ASSERTION: strtoll() insists on the number of its arguments. */
BEGIN
{
	strtoll();
	exit(0);
}
