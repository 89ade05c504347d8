/* ASSERTION: %hx takes a short. */
BEGIN
{
	printf("%hx", 1);
}
