/* ASSERTION: The frames of stack() are an integer. */
BEGIN
{
	stack("3");
}
