/* ASSERTION: errmod is the tracer's, and no program writes it. */
BEGIN
{
	errmod = "text";
	exit(0);
}
