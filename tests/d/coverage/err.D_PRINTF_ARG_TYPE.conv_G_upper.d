/* ASSERTION: %G takes no integer. */
BEGIN
{
	printf("%G", 1);
	exit(0);
}
