/* ASSERTION: %a takes no string. */
BEGIN
{
	printf("%a", "x");
}
