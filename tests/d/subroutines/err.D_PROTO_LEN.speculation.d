/* ASSERTION: speculation() insists on the number of its arguments. */
BEGIN
{
	speculation(1);
	exit(0);
}
