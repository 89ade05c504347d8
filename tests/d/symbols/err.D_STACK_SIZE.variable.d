/* ASSERTION: The frames of stack() are a constant. */
BEGIN
{
	stack(arg0);
}
