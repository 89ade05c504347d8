/* ASSERTION: chill() takes a number. */
BEGIN
{
	chill("1s");
	exit(0);
}
