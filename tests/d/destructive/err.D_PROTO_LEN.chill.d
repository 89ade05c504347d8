/* ASSERTION: chill() takes one argument. */
BEGIN
{
	chill();
	exit(0);
}
