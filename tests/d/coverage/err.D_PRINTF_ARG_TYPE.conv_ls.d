/* ASSERTION: %ls takes no integer. */
BEGIN
{
	printf("%ls", 1);
	exit(0);
}
