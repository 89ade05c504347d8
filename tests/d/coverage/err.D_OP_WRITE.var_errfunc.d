/* ASSERTION: errfunc is the tracer's, and no program writes it. */
BEGIN
{
	errfunc = "text";
	exit(0);
}
