/* ASSERTION: view can not be assigned to. */
BEGIN
{
	view = "x";
	exit(0);
}
