/* ASSERTION: A global variable is no function. */
int count_me;

BEGIN
{
	count_me();
}
