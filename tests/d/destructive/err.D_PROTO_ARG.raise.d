/* ASSERTION: raise() takes a number. */
BEGIN
{
	raise("INT");
	exit(0);
}
