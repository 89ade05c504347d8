/* ASSERTION: %lx takes no string. */
BEGIN
{
	printf("%lx", "text");
	exit(0);
}
