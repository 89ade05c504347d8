/* ASSERTION: sx_shared_held() insists on the types of its arguments. */
BEGIN
{
	sx_shared_held(1);
	exit(0);
}
