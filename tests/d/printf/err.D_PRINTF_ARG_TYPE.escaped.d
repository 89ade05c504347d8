/* ASSERTION: %S takes a string. */
BEGIN
{
	printf("%S", 1);
}
