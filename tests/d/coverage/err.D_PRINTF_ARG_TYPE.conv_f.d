/* ASSERTION: %f takes no integer. */
BEGIN
{
	printf("%f", 1);
	exit(0);
}
