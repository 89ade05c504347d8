/* ASSERTION: %A takes no string. */
BEGIN
{
	printf("%A", "text");
	exit(0);
}
