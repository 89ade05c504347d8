/* ASSERTION: The frames of a stack in printf() are checked. */
BEGIN
{
	printf("%k", stack(0));
}
