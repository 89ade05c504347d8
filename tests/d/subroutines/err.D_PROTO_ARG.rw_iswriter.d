/* ASSERTION: rw_iswriter() insists on the types of its arguments. */
BEGIN
{
	rw_iswriter(1);
	exit(0);
}
