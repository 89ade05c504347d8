/* ASSERTION: %s takes no integer. */
BEGIN
{
	printf("%s", 1);
	exit(0);
}
