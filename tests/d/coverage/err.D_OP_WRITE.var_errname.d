/* ASSERTION: errname is the tracer's, and no program writes it. */
BEGIN
{
	errname = "text";
	exit(0);
}
