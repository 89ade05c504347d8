/* ASSERTION: getmajor() insists on the types of its arguments. */
BEGIN
{
	getmajor("dev");
	exit(0);
}
