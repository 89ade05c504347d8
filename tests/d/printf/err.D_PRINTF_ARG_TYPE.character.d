/* ASSERTION: %c takes at most an int. */
BEGIN
{
	printf("%c", timestamp);
}
