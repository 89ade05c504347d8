/* ASSERTION: %lli takes no string. */
BEGIN
{
	printf("%lli", "text");
	exit(0);
}
