/* ASSERTION: printm() takes two arguments. */
BEGIN
{
	printm(4);
}
