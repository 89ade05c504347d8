/* ASSERTION: execargs can not be assigned to. */
BEGIN
{
	execargs = "x";
	exit(0);
}
