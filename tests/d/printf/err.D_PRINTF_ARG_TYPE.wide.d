/* ASSERTION: %ls takes an array of ints. */
BEGIN
{
	printf("%ls", "x");
}
