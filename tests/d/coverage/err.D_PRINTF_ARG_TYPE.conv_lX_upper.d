/* ASSERTION: %lX takes no string. */
BEGIN
{
	printf("%lX", "text");
	exit(0);
}
