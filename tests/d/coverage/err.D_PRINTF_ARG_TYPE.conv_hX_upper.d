/* ASSERTION: %hX takes no string. */
BEGIN
{
	printf("%hX", "text");
	exit(0);
}
