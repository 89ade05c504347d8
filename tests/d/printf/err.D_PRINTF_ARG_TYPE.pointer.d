/* ASSERTION: %d takes no pointer. */
BEGIN
{
	printf("%d", (void *)1);
}
