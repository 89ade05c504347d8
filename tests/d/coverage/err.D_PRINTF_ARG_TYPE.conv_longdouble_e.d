/* ASSERTION: %Le takes no integer. */
BEGIN
{
	printf("%Le", 1);
	exit(0);
}
