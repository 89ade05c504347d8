/* ASSERTION: %S takes no integer. */
BEGIN
{
	printf("%S", 1);
	exit(0);
}
