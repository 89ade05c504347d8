/* ASSERTION: strjoin() insists on the types of its arguments. */
BEGIN
{
	strjoin("a", 5);
	exit(0);
}
