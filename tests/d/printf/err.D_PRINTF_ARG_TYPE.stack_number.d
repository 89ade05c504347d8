/* ASSERTION: A stack is no number. */
BEGIN
{
	printf("%d", stack());
}
