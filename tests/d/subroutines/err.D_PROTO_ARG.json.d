/* ASSERTION: json() insists on the types of its arguments. */
BEGIN
{
	json("{}", 0);
	exit(0);
}
