/* ASSERTION: %i takes no string. */
BEGIN
{
	printf("%i", "text");
	exit(0);
}
