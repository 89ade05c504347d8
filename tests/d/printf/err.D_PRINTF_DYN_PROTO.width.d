/* ASSERTION: A width that is to be an argument needs one. */
BEGIN
{
	printf("%*d");
}
