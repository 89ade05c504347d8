/* ASSERTION: %k takes no integer. */
BEGIN
{
	printf("%k", 1);
	exit(0);
}
