/* ASSERTION: progenyof() insists on the number of its arguments. */
BEGIN
{
	progenyof();
	exit(0);
}
