/* ASSERTION: A call of an undefined function is an error that names it. */
BEGIN
{
	strlenn("x");
	exit(0);
}
