/* ASSERTION: ddi_pathname() insists on the number of its arguments. */
BEGIN
{
	ddi_pathname(NULL);
	exit(0);
}
