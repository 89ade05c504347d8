/* ASSERTION: sx_exclusive_held() insists on the number of its arguments. */
BEGIN
{
	sx_exclusive_held();
	exit(0);
}
