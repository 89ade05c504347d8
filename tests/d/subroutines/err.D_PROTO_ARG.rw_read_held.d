/* ASSERTION: rw_read_held() insists on the types of its arguments. */
BEGIN
{
	rw_read_held(1);
	exit(0);
}
