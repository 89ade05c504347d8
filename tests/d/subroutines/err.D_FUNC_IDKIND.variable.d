/* ASSERTION: A built-in variable is no function. */
BEGIN
{
	timestamp();
	exit(0);
}
