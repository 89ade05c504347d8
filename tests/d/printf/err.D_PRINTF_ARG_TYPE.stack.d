/* ASSERTION: %k takes a stack. */
BEGIN
{
	printf("%k", 1);
}
