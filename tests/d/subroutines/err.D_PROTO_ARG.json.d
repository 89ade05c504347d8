/* ASSERTION: json() insists on the types of its arguments. */
BEGIN
{
	json("{}", 1);
	exit(0);
}
