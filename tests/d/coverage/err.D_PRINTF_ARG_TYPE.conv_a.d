/* ASSERTION: %a takes no string. */
BEGIN
{
	printf("%a", "text");
	exit(0);
}
