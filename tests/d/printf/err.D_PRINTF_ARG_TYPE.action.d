/* ASSERTION: An action is no argument. */
BEGIN
{
	printf("%d", trace(1));
}
