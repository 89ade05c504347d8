/* ASSERTION: strrchr() insists on the number of its arguments. */
BEGIN
{
	strrchr("abc");
	exit(0);
}
