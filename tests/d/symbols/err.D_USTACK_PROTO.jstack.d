/* ASSERTION: jstack() takes two arguments. */
BEGIN
{
	jstack(1, 2, 3);
}
