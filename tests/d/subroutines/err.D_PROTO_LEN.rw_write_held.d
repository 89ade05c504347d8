/* ASSERTION: rw_write_held() insists on the number of its arguments. */
BEGIN
{
	rw_write_held();
	exit(0);
}
