/* ASSERTION: strtok() insists on the number of its arguments. */
BEGIN
{
	strtok("a b");
	exit(0);
}
