/* ASSERTION: %% has no width. */
BEGIN
{
	printf("%5%");
}
