/* ASSERTION: tolower() insists on the number of its arguments. */
BEGIN
{
	tolower();
	exit(0);
}
