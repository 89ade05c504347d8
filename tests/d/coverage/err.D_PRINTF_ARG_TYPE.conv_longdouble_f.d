/* ASSERTION: %Lf takes no integer. */
BEGIN
{
	printf("%Lf", 1);
	exit(0);
}
