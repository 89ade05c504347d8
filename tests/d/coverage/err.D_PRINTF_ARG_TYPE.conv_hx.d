/* ASSERTION: %hx takes no string. */
BEGIN
{
	printf("%hx", "text");
	exit(0);
}
