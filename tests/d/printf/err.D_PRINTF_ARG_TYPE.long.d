/* ASSERTION: %ld takes a long. */
BEGIN
{
	printf("%ld", 1);
}
