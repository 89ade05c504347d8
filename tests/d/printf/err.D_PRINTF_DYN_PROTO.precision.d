/* ASSERTION: So does a precision. */
BEGIN
{
	printf("%*.*d", 1);
}
