/* ASSERTION: d_path() insists on the number of its arguments. */
BEGIN
{
	d_path();
	exit(0);
}
