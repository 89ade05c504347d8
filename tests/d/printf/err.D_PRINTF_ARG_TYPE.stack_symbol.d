/* ASSERTION: A stack is no symbol. */
BEGIN
{
	printf("%a", stack());
}
