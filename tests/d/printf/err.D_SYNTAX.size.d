/* ASSERTION: There is no %hhd. */
BEGIN
{
	printf("%hhd", (char)1);
}
