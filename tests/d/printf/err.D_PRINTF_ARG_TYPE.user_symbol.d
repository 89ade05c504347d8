/* ASSERTION: %a takes no user symbol. */
BEGIN
{
	printf("%a", usym(1));
}
