/* ASSERTION: view is D's own: a program cannot assign to it. */
BEGIN
{
	view = "text";
	exit(0);
}
