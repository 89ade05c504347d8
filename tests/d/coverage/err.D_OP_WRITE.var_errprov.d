/* ASSERTION: errprov is the tracer's, and no program writes it. */
BEGIN
{
	errprov = "text";
	exit(0);
}
