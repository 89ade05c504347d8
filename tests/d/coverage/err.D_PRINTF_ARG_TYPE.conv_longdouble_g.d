/* ASSERTION: %Lg takes no integer. */
BEGIN
{
	printf("%Lg", 1);
	exit(0);
}
