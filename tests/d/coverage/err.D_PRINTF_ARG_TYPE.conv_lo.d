/* ASSERTION: %lo takes no string. */
BEGIN
{
	printf("%lo", "text");
	exit(0);
}
