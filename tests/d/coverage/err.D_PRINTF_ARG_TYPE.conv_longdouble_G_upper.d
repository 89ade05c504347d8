/* ASSERTION: %LG takes no integer. */
BEGIN
{
	printf("%LG", 1);
	exit(0);
}
