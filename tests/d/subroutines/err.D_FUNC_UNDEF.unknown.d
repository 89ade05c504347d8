/* ASSERTION: A function that D does not have is named as such. */
BEGIN
{
	strlenn("x");
	exit(0);
}
