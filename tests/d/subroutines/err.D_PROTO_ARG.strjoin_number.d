/* ASSERTION: A number is no string to strjoin(). */
BEGIN
{
	strjoin(1, "x");
	exit(0);
}
