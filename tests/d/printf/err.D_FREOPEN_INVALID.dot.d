/* ASSERTION: freopen() cannot be given the directory itself. */
BEGIN
{
	freopen(".");
}
