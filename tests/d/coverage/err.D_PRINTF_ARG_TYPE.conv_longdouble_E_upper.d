/* ASSERTION: %LE takes no integer. */
BEGIN
{
	printf("%LE", 1);
	exit(0);
}
