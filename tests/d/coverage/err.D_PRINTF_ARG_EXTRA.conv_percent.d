/* ASSERTION: %% takes no argument: one is one too many. */
BEGIN
{
	printf("%%", 1);
	exit(0);
}
